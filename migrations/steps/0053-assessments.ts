import type { Knex } from 'knex';

/** Sessions about a target architecture, kept until they are carried out. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table assessments (
      id uuid primary key default uuidv7(),
      title text not null,
      requirement text not null,
      status text not null default 'saved' check (status in ('saved', 'committed')),
      session_data jsonb not null,
      -- the initiative that the session was carried out as; it may be deleted or merged later
      initiative_id uuid,
      -- what was decided, in Markdown
      decision_draft text,
      created_by uuid references users (id) on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      check ((status = 'committed') = (initiative_id is not null))
    );

    -- JSON without the members of these names, at any depth; its depth is bounded where it is taken in.
    create function cut_members(value jsonb, names text[]) returns jsonb
      language plpgsql immutable parallel safe as $$
      begin
        if jsonb_typeof(value) = 'object' then
          return coalesce((select jsonb_object_agg(m.key, cut_members(m.value, names))
            from jsonb_each(value) m where m.key <> all(names)), '{}');
        elsif jsonb_typeof(value) = 'array' then
          return coalesce((select jsonb_agg(cut_members(i.value, names) order by i.n)
            from jsonb_array_elements(value) with ordinality i(value, n)), '[]');
        end if;
        return value;
      end $$;
  `);
}
