"""what a server speaks and what its views are granted

Revision: 0002
After: 0001
Date: 2026-12-01 03:00:00.000000
"""

import sqlalchemy as sa
from alembic import op


revision = '0002'
down_revision = '0001'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table('servers') as batch:
        batch.add_column(sa.Column('protocol', sa.String(length=16), nullable=True))
        batch.add_column(sa.Column('permissions', sa.JSON(), nullable=False, server_default='[]'))


def downgrade() -> None:
    with op.batch_alter_table('servers') as batch:
        batch.drop_column('permissions')
        batch.drop_column('protocol')
