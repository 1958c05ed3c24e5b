"""what views may call and reach, and what a person said yes to

Revision: 0007
After: 0006
Date: 2026-12-01 12:30:00.000000
"""

import sqlalchemy as sa
from alembic import op


revision = '0007'
down_revision = '0006'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table('servers') as batch:
        batch.add_column(
            sa.Column('calls', sa.String(length=8), nullable=False, server_default='allowed')
        )
        batch.add_column(
            sa.Column('domains', sa.String(length=8), nullable=False, server_default='all')
        )
        batch.add_column(
            sa.Column('chosen_domains', sa.JSON(), nullable=False, server_default='[]')
        )
    op.create_table(
        'grants',
        sa.Column('id', sa.String(length=64), nullable=False),
        sa.Column('user_id', sa.String(length=32), nullable=False),
        sa.Column('session_id', sa.String(length=32), nullable=False),
        sa.Column('server_id', sa.Integer(), nullable=False),
        sa.Column('principal', sa.Text(), nullable=False),
        sa.Column('tool', sa.Text(), nullable=False),
        sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(['user_id'], ['users.id'], ondelete='CASCADE'),
        sa.ForeignKeyConstraint(['session_id'], ['sessions.id'], ondelete='CASCADE'),
        sa.ForeignKeyConstraint(['server_id'], ['servers.id'], ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('id'),
    )
    for column in ('user_id', 'session_id', 'server_id'):
        op.create_index(f'ix_grants_{column}', 'grants', [column])
    op.create_table(
        'approvals',
        sa.Column('token_hash', sa.String(length=64), nullable=False),
        sa.Column('login_id', sa.String(length=32), nullable=False),
        sa.Column('digest', sa.String(length=64), nullable=False),
        sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
        sa.Column('used_at', sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(['login_id'], ['login_sessions.id'], ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('token_hash'),
    )
    op.create_index('ix_approvals_login_id', 'approvals', ['login_id'])
    op.create_index('ix_approvals_expires_at', 'approvals', ['expires_at'])


def downgrade() -> None:
    op.drop_table('approvals')
    op.drop_table('grants')
    with op.batch_alter_table('servers') as batch:
        batch.drop_column('chosen_domains')
        batch.drop_column('domains')
        batch.drop_column('calls')
