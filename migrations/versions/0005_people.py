"""roles, links that belong to a person, API tokens, and what viewers may do

Revision: 0005
After: 0004
Date: 2026-12-01 13:00:00.000000
"""

import sqlalchemy as sa
from alembic import op


revision = '0005'
down_revision = '0004'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table('users') as batch:
        batch.add_column(
            sa.Column('role', sa.String(length=16), nullable=False, server_default='operator')
        )
    with op.batch_alter_table('servers') as batch:
        batch.add_column(
            sa.Column('viewers_may_call', sa.Boolean(), nullable=False, server_default=sa.false())
        )
    with op.batch_alter_table('sign_in_links') as batch:
        batch.add_column(sa.Column('user_id', sa.String(length=32), nullable=True))
        batch.create_foreign_key(
            'fk_sign_in_links_user_id', 'users', ['user_id'], ['id'], ondelete='CASCADE'
        )
        batch.create_index('ix_sign_in_links_user_id', ['user_id'])
    op.create_table(
        'api_tokens',
        sa.Column('id', sa.String(length=32), nullable=False),
        sa.Column('token_hash', sa.String(length=64), nullable=False),
        sa.Column('name', sa.String(length=64), nullable=False),
        sa.Column('scopes', sa.JSON(), nullable=False),
        sa.Column('user_id', sa.String(length=32), nullable=False),
        sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
        sa.Column('used_at', sa.DateTime(timezone=True), nullable=True),
        sa.Column('expires_at', sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(['user_id'], ['users.id'], ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('id'),
        sa.UniqueConstraint('token_hash'),
    )
    op.create_index('ix_api_tokens_user_id', 'api_tokens', ['user_id'])


def downgrade() -> None:
    op.drop_table('api_tokens')
    with op.batch_alter_table('sign_in_links') as batch:
        batch.drop_index('ix_sign_in_links_user_id')
        batch.drop_constraint('fk_sign_in_links_user_id', type_='foreignkey')
        batch.drop_column('user_id')
    with op.batch_alter_table('servers') as batch:
        batch.drop_column('viewers_may_call')
    with op.batch_alter_table('users') as batch:
        batch.drop_column('role')
