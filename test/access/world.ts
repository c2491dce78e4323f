import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import pg from 'pg';
import { builtInSchedules } from '../../domain/app/schedules.data.ts';
import { storeFile } from '../../domain/kernel/files/files.store.ts';
import { ensureSchedule } from '../../domain/kernel/jobs/schedules.fire.ts';
import { createTestApp, type TestApp, type TestClient } from '../support/harness.ts';

/** Everybody whom the table has a column for, in its order. */
export const roles = [
  'admin',
  'bpm_admin',
  'member',
  'viewer',
  'integrator',
  'participant',
  'anonymous',
] as const;
export type Role = (typeof roles)[number];

/** A role of a workspace's own making: reads, keeps relations, and settings besides. */
const integratorKeys = ['inventory.view', 'relations.view', 'relations.manage', 'admin.settings'];

/** A service with somebody of each role, and makers of real objects to act on. */
export interface World {
  t: TestApp;
  client(role: Role): Promise<TestClient>;
  /** Somebody of the role whose token may be lost. */
  passing(role: Role): Promise<TestClient>;
  /** An application on which nobody holds a role, unless `values` or later acts say otherwise. */
  card(values?: Record<string, unknown>): Promise<string>;
  /** A card with a cost, on which the participant is responsible. */
  ownCard(values?: Record<string, unknown>): Promise<string>;
  stakeholder(card: string, user: string, role: string): Promise<void>;
  /** A relation between two new cards. */
  relation(source?: string): Promise<string>;
  user(): Promise<string>;
  /** A job of the given owner, by default somebody who has no column. */
  job(status: string, owner?: string): Promise<string>;
  /** A job that has made a file. */
  finishedJob(owner?: string, withCosts?: boolean, kind?: string): Promise<string>;
  /** A connection that only looks. */
  watcher: pg.Client;
  close(): Promise<void>;
}

const importLine = '{"line":2,"external_id":null,"outcome":"failed","errors":[]}\n';

/** What the administrator makes at an address below `/api/v1`. @returns the answer's body. */
export async function made(
  w: Pick<World, 't'>,
  url: string,
  body?: unknown,
  method: 'post' | 'put' = 'post',
) {
  const answer = await (await w.t.as('admin', 'maker'))[method](`/api/v1${url}`, body);
  if (answer.status >= 300) throw new Error(`${url} answered ${answer.status}: ${answer.text}`);
  return answer.body;
}

export async function createWorld(): Promise<World> {
  // the table brings a provider of single sign-on of its own
  const t = await createTestApp({ OUTBOUND_ALLOW: '127.0.0.1:*' });
  const { config, db } = t.services;
  const watcher = new pg.Client({ connectionString: config.databaseUrl! });
  await watcher.connect();
  await watcher.query(noteWrites);
  await db('roles').insert([
    {
      key: 'integrator',
      label: 'Integrator',
      permissions: JSON.stringify(Object.fromEntries(integratorKeys.map((key) => [key, true]))),
    },
    { key: 'participant', label: 'Participant', permissions: '{}' },
  ]);
  const raise = (...topics: string[]) => db.raw("select record_events('[]'::jsonb, ?::text[])", [topics]);
  await raise('roles');
  for (const schedule of builtInSchedules) await ensureSchedule(db, schedule);
  await t.as('admin', 'maker');
  const bystander = (await t.as('member', 'bystander')).userId;

  const world: World = {
    t,
    client: async (role) => (role === 'anonymous' ? t.anonymous : t.as(role)),
    passing: async (role) => (role === 'anonymous' ? t.anonymous : t.as(role, `passing-${randomUUID()}`)),
    card: async (values = {}) =>
      (await made({ t }, '/cards', { type: 'Application', name: `Card ${randomUUID()}`, ...values })).id,
    async ownCard(values = {}) {
      const card = await world.card({ attributes: { costTotalAnnual: 4711 }, ...values });
      await world.stakeholder(card, (await t.as('participant')).userId, 'responsible');
      return card;
    },
    async stakeholder(card, user, role) {
      await db('stakeholders').insert({ card_id: card, user_id: user, role });
      await raise('cards:Application');
    },
    async relation(source) {
      const target_id = await world.card({ type: 'ITComponent' });
      const source_id = source ?? (await world.card());
      return (await made({ t }, '/relations', { type: 'relAppToITC', source_id, target_id })).id;
    },
    async user() {
      const name = randomUUID();
      const [row] = await db('users')
        .insert({ email: `${name}@estate.example`, display_name: name, role: 'member' })
        .returning('id');
      return row.id;
    },
    async job(status, owner = bystander) {
      const finished = status === 'queued' ? {} : { started_at: new Date(), finished_at: new Date() };
      const [row] = await db('jobs')
        .insert({ kind: 'export', queue: 'bulk', status, owner_id: owner, ...finished })
        .returning('id');
      return row.id;
    },
    async finishedJob(owner = bystander, withCosts = false, kind) {
      const job = await world.job('succeeded', owner);
      const facts = {
        name: 'cards.csv',
        mediaType: 'text/csv',
        ownerId: owner,
        withCosts,
        needs: [],
        expiresAt: null,
      };
      const file = await storeFile(
        t.services,
        Readable.from([kind === 'import' ? importLine : 'type,name\n']),
        facts,
      );
      await db('jobs')
        .where({ id: job })
        .update({ result_file_id: file.id, ...(kind && { kind }) });
      return job;
    },
    watcher,
    async close() {
      await watcher.end();
      await t.close();
    },
  };
  for (const role of roles) await world.client(role);
  return world;
}

/** Notes each row that is written in any table, as part of the transaction that writes it: undone with that, it is not noted. */
const noteWrites = `
  create schema watched;
  create unlogged table watched.writes (place text not null);
  create function watched.note() returns trigger language plpgsql as $$
    begin
      insert into watched.writes values (tg_table_name);
      return null;
    end $$;
  do $$
    declare place regclass;
    begin
      for place in select oid from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      loop
        execute format('create trigger watched after insert or update or delete on %s
          for each row execute function watched.note()', place);
        execute format('create trigger watched_whole after truncate on %s
          for each statement execute function watched.note()', place);
      end loop;
    end $$`;

/** The tables of which rows were written since it was last asked, whoever wrote them. */
export async function written({ watcher }: World): Promise<string[]> {
  const { rows } = await watcher.query<{ place: string }>({
    // asked thousands of times, and planning takes longer than carrying out
    name: 'written',
    text: `with noted as (delete from watched.writes returning place) select distinct place from noted order by place`,
  });
  return rows.map(({ place }) => place);
}
