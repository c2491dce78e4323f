import type { Knex } from 'knex';

/** Diagrams of processes with their elements and links, versions of flows that are approved, and assessments. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Contents that diagrams and flows show, each kept once and never changed.
    create table process_contents (
      -- SHA-256 of the encoding and the bytes, hexadecimal
      id text primary key,
      kind text not null check (kind in ('bpmn', 'svg')),
      -- with its byte order mark, if it has one
      text text not null,
      -- the bytes as they were sent, where they are not the text in UTF-8
      original bytea,
      encoding text not null default 'utf-8',
      -- in bytes
      size integer not null,
      -- what the parser has noted, as texts
      warnings jsonb not null default '[]',
      -- drawn from the diagram interchange; null where there is none
      picture text,
      -- when it was last stored: contents that nothing shows any more go after a while
      used_at timestamptz not null default now()
    );

    create table process_content_elements (
      id uuid primary key default uuidv7(),
      content_id text not null references process_contents on delete cascade,
      bpmn_element_id text not null,
      sequence_order integer not null,
      element_type text not null,
      name text not null,
      documentation text,
      lane_name text,
      pool_name text,
      -- the subprocess that it lies in
      parent_element_id text,
      is_automated boolean not null,
      next_element_ids text[] not null default '{}',
      unique (content_id, bpmn_element_id)
    );

    create table process_diagrams (
      id uuid primary key default uuidv7(),
      process_id uuid not null references cards (id) on delete cascade,
      -- the process whose saves follow one another: a merge leaves two of them on one card
      lineage_id uuid not null,
      version integer not null,
      content_id text not null references process_contents,
      thumbnail_id text references process_contents,
      created_by uuid,
      created_at timestamptz not null default now()
    );
    -- the first of them is what is shown: the card's own before what a merge has brought
    create unique index process_diagrams_current
      on process_diagrams (process_id, (lineage_id = process_id) desc, version desc, lineage_id);
    create index process_diagrams_content on process_diagrams (content_id);
    create index process_diagrams_thumbnail on process_diagrams (thumbnail_id);

    create table process_flow_versions (
      id uuid primary key default uuidv7(),
      process_id uuid not null references cards (id) on delete cascade,
      status text not null default 'draft' check (status in ('draft', 'pending', 'published', 'archived')),
      revision integer not null,
      content_id text not null references process_contents,
      thumbnail_id text references process_contents,
      -- stays when that version is deleted
      based_on_id uuid,
      created_by uuid,
      created_at timestamptz not null default now(),
      submitted_by uuid,
      submitted_at timestamptz,
      approved_by uuid,
      approved_at timestamptz,
      archived_at timestamptz,
      updated_at timestamptz not null default now()
    );
    create index process_flow_versions_process on process_flow_versions (process_id, status, revision);
    create index process_flow_versions_content on process_flow_versions (content_id);
    create index process_flow_versions_thumbnail on process_flow_versions (thumbnail_id);

    -- What elements are linked to, by the ids that they have in the model.
    create table process_element_links (
      id uuid primary key default uuidv7(),
      process_id uuid not null references cards (id) on delete cascade,
      lineage_id uuid not null,
      -- the flow version that plans it; null where it is in force
      flow_version_id uuid references process_flow_versions on delete cascade,
      bpmn_element_id text not null,
      application_id uuid references cards (id) on delete set null,
      data_object_id uuid references cards (id) on delete set null,
      it_component_id uuid references cards (id) on delete set null,
      custom_fields jsonb,
      -- relations that came with the links, and go with the last of them
      relation_ids uuid[] not null default '{}',
      updated_at timestamptz not null default now()
    );
    create unique index process_element_links_live on process_element_links (lineage_id, bpmn_element_id)
      where flow_version_id is null;
    create unique index process_element_links_planned on process_element_links (flow_version_id, bpmn_element_id)
      where flow_version_id is not null;
    create index process_element_links_process on process_element_links (process_id);
    create index process_element_links_application on process_element_links (application_id)
      where application_id is not null;
    create index process_element_links_data_object on process_element_links (data_object_id)
      where data_object_id is not null;
    create index process_element_links_it_component on process_element_links (it_component_id)
      where it_component_id is not null;

    create table process_assessments (
      id uuid primary key default uuidv7(),
      process_id uuid not null references cards (id) on delete cascade,
      assessor_id uuid,
      assessment_date date not null,
      overall_score integer not null check (overall_score between 1 and 5),
      efficiency integer not null check (efficiency between 1 and 5),
      effectiveness integer not null check (effectiveness between 1 and 5),
      compliance integer not null check (compliance between 1 and 5),
      automation integer not null check (automation between 1 and 5),
      notes text,
      action_items jsonb not null default '[]',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index process_assessments_process on process_assessments (process_id, assessment_date);
  `);
}
