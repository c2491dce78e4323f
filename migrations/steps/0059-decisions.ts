import type { Knex } from 'knex';

/** What both kinds of documents have that people sign. */
const signed = `
      status text not null default 'draft',
      revision_number integer not null default 1,
      -- the revision before, also one that was deleted
      parent_id uuid,
      -- the first of its revisions: its own id there
      series_id uuid not null,
      -- [{user_id, status, signed_at, content_hash}] in the order in which they were asked
      signatories jsonb not null default '[]',
      -- {user_id, comment, rejected_at} of the rejection that made it a draft again
      rejection jsonb,
      signed_at timestamptz,
      -- SHA-256 of what was signed, since the last signature
      content_hash text,
      created_by uuid,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()`;

/** Architecture decision records with the cards that they are about, and statements of architecture work. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table adrs (
      id uuid primary key default uuidv7(),
      -- the 7 of ADR-007; all revisions of a decision have the same
      number integer not null,
      title text not null,
      -- Markdown, all of them
      context text,
      decision_drivers text,
      alternatives_considered text,
      pros_and_cons text,
      decision text,
      consequences text,
      confirmation text,
      more_information text,
      -- texts: numbers, ids or addresses of other decisions; and the people and groups of MADR's head
      related_decisions jsonb not null default '[]',
      decision_makers jsonb not null default '[]',
      consulted jsonb not null default '[]',
      informed jsonb not null default '[]',
      ${signed},
      check (status in ('draft', 'in_review', 'signed')),
      unique (number, revision_number)
    );
    create index adrs_created on adrs (created_at, id);
    create index adrs_series on adrs (series_id, revision_number);
    create index adrs_signatories on adrs using gin (signatories jsonb_path_ops);

    create table adr_cards (
      id uuid primary key default uuidv7(),
      adr_id uuid not null references adrs (id) on delete cascade,
      card_id uuid not null references cards (id) on delete cascade,
      created_by uuid,
      created_at timestamptz not null default now(),
      unique (adr_id, card_id)
    );
    create index adr_cards_card on adr_cards (card_id);

    create table soaws (
      id uuid primary key default uuidv7(),
      name text not null,
      initiative_id uuid references cards (id) on delete set null,
      -- {prepared_by, review_date, reviewed_by}
      document_info jsonb not null default '{}',
      -- [{version, date, revised_by, description}]
      version_history jsonb not null default '[]',
      -- {"1.1": {content, hidden, table_data, togaf_data}}
      sections jsonb not null default '{}',
      ${signed},
      check (status in ('draft', 'in_review', 'approved', 'signed')),
      unique (series_id, revision_number)
    );
    create index soaws_created on soaws (created_at, id);
    create index soaws_initiative on soaws (initiative_id) where initiative_id is not null;
    create index soaws_signatories on soaws using gin (signatories jsonb_path_ops);

    -- a principle of the catalogue is taken over once
    create unique index principles_catalogue on principles (catalogue_id) where catalogue_id is not null;

    -- The words of a document whose texts are HTML, for looking into.
    create function document_words(document jsonb) returns text language sql immutable parallel safe as $$
      select coalesce(string_agg(replace(replace(replace(replace(
          regexp_replace(
            regexp_replace(v #>> '{}', '</{0,1}(a|b|code|em|i|mark|s|small|span|strong|sub|sup|u)( [^>]*){0,1}>', '', 'g'),
            '(<[^>]*>|[[:space:]])+', ' ', 'g'),
          '&lt;', '<'), '&gt;', '>'), '&quot;', '"'), '&amp;', '&'), ' '), '')
      from jsonb_path_query(document, 'strict $.** \\? (@.type() == "string")') v
    $$;
  `);
}
