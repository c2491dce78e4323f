import type { Knex } from 'knex';

/** Surveys among the stakeholders of cards, and their answers. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table surveys (
      id uuid primary key default uuidv7(),
      name text not null,
      description text,
      message text not null default '',
      status text not null default 'draft' check (status in ('draft', 'active', 'closed')),
      target_type_key text not null,
      target_filters jsonb not null default '{}',
      -- keys of stakeholder roles
      target_roles jsonb not null default '[]',
      -- the fields as they were when it was written, and again when it was sent
      fields jsonb not null default '[]',
      created_by uuid,
      sent_at timestamptz,
      closed_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index surveys_created on surveys (created_at, id);

    -- Who is asked about which card. After a merge of cards one user may be asked twice about the survivor.
    create table survey_responses (
      id uuid primary key default uuidv7(),
      -- no cascade: a survey that somebody has answered is not deleted by the way
      survey_id uuid not null references surveys (id),
      card_id uuid not null references cards (id) on delete cascade,
      -- stays when the user is deleted, as the authors of comments do
      user_id uuid not null,
      status text not null default 'pending' check (status in ('pending', 'completed')),
      -- {field: {current_value, new_value, confirmed}}
      responses jsonb not null default '{}',
      -- the fields of the answer that held costs when it was given
      cost_keys text[] not null default '{}',
      applied boolean not null default false,
      responded_at timestamptz,
      applied_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index survey_responses_survey on survey_responses (survey_id, card_id, user_id);
    create index survey_responses_card on survey_responses (card_id);
    create index survey_responses_user on survey_responses (user_id, status);
  `);
}
