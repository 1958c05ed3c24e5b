"""the audit trail

Revision: 0008
After: 0007
Date: 2026-12-01 12:40:00.000000
"""

import sqlalchemy as sa
from alembic import op


revision = '0008'
down_revision = '0007'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        'audit_events',
        sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
        sa.Column('at', sa.DateTime(timezone=True), nullable=False),
        sa.Column('last_at', sa.DateTime(timezone=True), nullable=False),
        sa.Column('count', sa.BigInteger(), nullable=False),
        sa.Column('kind', sa.String(length=32), nullable=False),
        sa.Column('outcome', sa.String(length=16), nullable=False),
        sa.Column('person_id', sa.String(length=32), nullable=False),
        sa.Column('person', sa.String(length=64), nullable=False),
        sa.Column('login_id', sa.String(length=32), nullable=False),
        sa.Column('session_id', sa.String(length=64), nullable=False),
        sa.Column('tool_call_id', sa.Text(), nullable=False),
        sa.Column('address', sa.String(length=40), nullable=False),
        sa.Column('principal', sa.Text(), nullable=False),
        sa.Column('server', sa.String(length=256), nullable=False),
        sa.Column('tool', sa.Text(), nullable=False),
        sa.Column('about', sa.Text(), nullable=False),
        sa.Column('latency_ms', sa.BigInteger(), nullable=False),
        sa.Column('latency_max_ms', sa.BigInteger(), nullable=False),
        sa.Column('request_bytes', sa.BigInteger(), nullable=False),
        sa.Column('result_bytes', sa.BigInteger(), nullable=False),
        sa.Column('arguments_hash', sa.String(length=64), nullable=False),
        sa.Column('fold_key', sa.String(length=64), nullable=True),
        sa.PrimaryKeyConstraint('id'),
    )
    op.create_index('ix_audit_events_last', 'audit_events', ['last_at', 'id'])
    for name in ('kind', 'outcome', 'server', 'person'):
        op.create_index(f'ix_audit_events_{name}', 'audit_events', [name, 'last_at', 'id'])
    op.create_index('ix_audit_events_session', 'audit_events', ['session_id', 'last_at', 'id'])
    op.create_index('ix_audit_events_fold', 'audit_events', ['fold_key'], unique=True)


def downgrade() -> None:
    op.drop_table('audit_events')
