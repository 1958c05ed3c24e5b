"""side files, a session's servers, branches, and the sub-agent that a call started

Revision: 0004
After: 0003
Date: 2026-12-01 03:10:00.000000
"""

import sqlalchemy as sa
from alembic import op


revision = '0004'
down_revision = '0003'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table('transcripts') as batch:
        batch.add_column(sa.Column('leaf', sa.Text(), nullable=False, server_default=''))
    with op.batch_alter_table('tool_calls') as batch:
        batch.add_column(sa.Column('agent_id', sa.Text(), nullable=True))
    op.create_table(
        'branches',
        sa.Column('transcript_id', sa.Integer(), nullable=False),
        sa.Column('seq', sa.Integer(), nullable=False),
        sa.Column('parent_seq', sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(['transcript_id'], ['transcripts.id'], ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('transcript_id', 'seq'),
    )
    op.create_table(
        'side_files',
        sa.Column('session_id', sa.String(length=32), nullable=False),
        sa.Column('name', sa.Text(), nullable=False),
        sa.Column('size', sa.Integer(), nullable=False),
        sa.Column('data', sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(['session_id'], ['sessions.id'], ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('session_id', 'name'),
    )
    op.create_table(
        'session_servers',
        sa.Column('session_id', sa.String(length=32), nullable=False),
        sa.Column('name', sa.Text(), nullable=False),
        sa.Column('url', sa.Text(), nullable=False),
        sa.Column('transport', sa.String(length=16), nullable=False),
        sa.Column('headers', sa.JSON(), nullable=False),
        sa.Column('origin', sa.String(length=16), nullable=False),
        sa.Column('read_at', sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(['session_id'], ['sessions.id'], ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('session_id', 'name'),
    )
    op.create_index('ix_session_servers_url', 'session_servers', ['url'])


def downgrade() -> None:
    op.drop_table('session_servers')
    op.drop_table('side_files')
    op.drop_table('branches')
    with op.batch_alter_table('tool_calls') as batch:
        batch.drop_column('agent_id')
    with op.batch_alter_table('transcripts') as batch:
        batch.drop_column('leaf')
