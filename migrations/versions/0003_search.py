"""full text search, and which transcripts were deleted for good

Revision: 0003
After: 0002
Date: 2026-12-01 03:10:00.000000
"""

import sqlalchemy as sa
from alembic import op


revision = '0003'
down_revision = '0002'
branch_labels = None
depends_on = None

# Contentless: the words are stored nowhere but in the index, the text only in the chunks.
_FTS5 = (
    "CREATE VIRTUAL TABLE search_index USING fts5("
    "words, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2')"
)
_POSTGRES = (
    "CREATE TABLE search_index ("
    " transcript_id integer NOT NULL REFERENCES transcripts (id) ON DELETE CASCADE,"
    " seq integer NOT NULL,"
    " words tsvector NOT NULL,"
    " PRIMARY KEY (transcript_id, seq))"
)


def upgrade() -> None:
    op.add_column(
        'transcripts',
        sa.Column('indexed_as', sa.Integer(), nullable=False, server_default='0'),
    )
    op.create_table(
        'deleted_transcripts',
        sa.Column('path_hash', sa.String(length=64), nullable=False),
        sa.Column('deleted_at', sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint('path_hash'),
    )
    if op.get_bind().dialect.name == 'sqlite':
        op.execute(_FTS5)
    else:
        op.execute(_POSTGRES)
        op.execute("CREATE INDEX ix_search_index_words ON search_index USING gin (words)")


def downgrade() -> None:
    op.execute("DROP TABLE search_index")
    op.drop_table('deleted_transcripts')
    with op.batch_alter_table('transcripts') as batch:
        batch.drop_column('indexed_as')
