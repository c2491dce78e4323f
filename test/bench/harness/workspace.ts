import type pg from 'pg';
import { benchExtraFields } from '../landscape/attributes.ts';
import { benchTagGroups, benchUsers } from '../landscape/people.ts';

/**
 * Makes an empty workspace ready for the bench landscape: custom fields, tags and people that its rows name.
 * Goes past the API, which the landscape is not there to measure, and raises the metamodel's version.
 */
export async function prepareWorkspace(client: pg.Client): Promise<void> {
  await client.query('begin');
  for (const { type, section } of benchExtraFields) {
    await client.query('update card_types set fields_schema = fields_schema || $2::jsonb where key = $1', [
      type,
      JSON.stringify([section]),
    ]);
  }
  await client.query(
    `insert into users (email, display_name, role)
     select u->>'email', u->>'display_name', 'member' from jsonb_array_elements($1::jsonb) u`,
    [JSON.stringify(benchUsers)],
  );
  for (const { name, tags } of benchTagGroups) {
    await client.query(
      `with grp as (insert into tag_groups (name) values ($1) returning id)
       insert into tags (tag_group_id, name, sort_order)
       select grp.id, t.name, t.n from grp, unnest($2::text[]) with ordinality as t (name, n)`,
      [name, tags],
    );
  }
  await client.query(`select record_events('[]', '{metamodel}')`);
  await client.query('commit');
  await client.query('vacuum analyze');
}
