"""credentials of servers, and leave for private addresses

Revision: 0006
After: 0005
Date: 2026-12-01 12:20:00.000000
"""

from ipaddress import ip_address
from urllib.parse import urlsplit

import sqlalchemy as sa
from alembic import op


revision = '0006'
down_revision = '0005'
branch_labels = None
depends_on = None


def _is_private(url: str) -> bool:
    try:
        host = (urlsplit(url).hostname or '').rstrip('.')
    except ValueError:
        return False
    if host == 'localhost' or host.endswith('.localhost'):
        return True
    try:
        return not ip_address(host).is_global
    except ValueError:
        return False


def upgrade() -> None:
    with op.batch_alter_table('servers') as batch:
        batch.add_column(
            sa.Column(
                'private_confirmed', sa.Boolean(), nullable=False, server_default=sa.false()
            )
        )
    # Whoever entered such an address saw where it leads; what a name leads to, nobody was asked.
    servers = sa.table('servers', sa.column('id'), sa.column('url'), sa.column('private_confirmed'))
    connection = op.get_bind()
    for server_id, url in connection.execute(sa.select(servers.c.id, servers.c.url)).all():
        if _is_private(url):
            connection.execute(
                sa.update(servers).where(servers.c.id == server_id).values(private_confirmed=True)
            )
    op.create_table(
        'server_credentials',
        sa.Column('server_id', sa.Integer(), nullable=False),
        sa.Column('header', sa.String(length=100), nullable=False),
        sa.Column('name', sa.String(length=100), nullable=False),
        sa.Column('reference', sa.String(length=128), nullable=False),
        sa.Column('sealed', sa.LargeBinary(), nullable=True),
        sa.Column('set_at', sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(['server_id'], ['servers.id'], ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('server_id', 'header'),
    )


def downgrade() -> None:
    op.drop_table('server_credentials')
    with op.batch_alter_table('servers') as batch:
        batch.drop_column('private_confirmed')
