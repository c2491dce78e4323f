import { randomUUID } from 'node:crypto';
import { secretContext } from '../../../domain/exchange/itsm/itsm.load.ts';
import type { RunRow } from '../../../domain/exchange/itsm/itsm.model.ts';
import { startRun } from '../../../domain/exchange/itsm/runs.commands.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { query } from '../../../platform/database.ts';
import { type Options, type ServiceNowEmulator, startServiceNow } from '../../emulators/servicenow/server.ts';
import { storeConnection, storeMapping } from '../../support/itsm.ts';
import { applications, components, fields, kinds, populate, relationType, type Size } from './landscape.ts';

/** The inventory, an emulated remote, and two mappings that keep them in step. */
export interface World {
  services: Services;
  ctx: Ctx;
  instance: ServiceNowEmulator;
  /** The remote's key of the kind of its relations. */
  relationKind: string;
  /** By key of the kind. */
  mappings: Record<'component' | 'application', string>;
  close(): Promise<void>;
}

/** What runs are asked for and read through. */
export type Parts = Pick<World, 'services' | 'ctx'>;

/** A world with so many things at the remote and none here; what the database held of another one goes. */
export async function createWorld({ services, ctx }: Parts, size: Size, options: Options): Promise<World> {
  const { db } = services;
  await db.raw('truncate itsm_connections, itsm_account_limits, cards, jobs cascade');
  const instance = await startServiceNow(options);
  const relationKind = populate(instance, size);
  const id = randomUUID();
  const secrets = { password: 'secret', client_secret: 'client secret' };
  const connectionId = await storeConnection(db, {
    id,
    instance_url: instance.base,
    auth_type: 'oauth2',
    grant_type: 'password',
    client_id: 'estate-client',
    secrets: services.secrets.seal(JSON.stringify(secrets), secretContext(id)),
  });
  const mappings = {} as World['mappings'];
  for (const { key, cardType, table } of kinds) {
    const target_mapping_id = mappings.component;
    const relation = { relation_type_key: relationType, remote_type: relationKind, target_mapping_id };
    mappings[key] = await storeMapping(
      { services },
      {
        connectionId,
        cardType,
        table,
        fields,
        relations: key === 'application' ? [relation] : [],
        more: { max_deletions: 1_000, max_deletion_ratio: 1, complete_every_hours: 8_760 },
      },
    );
  }
  return { services, ctx, instance, relationKind, mappings, close: () => instance.close() };
}

/** Asks for a run. @returns its id. */
export async function begin(
  { ctx }: Parts,
  mappingId: string,
  more: { complete?: boolean; direction?: 'pull' | 'push' } = {},
): Promise<string> {
  return (await startRun(ctx, { mappingId, trigger: 'manual', autoApply: true, ...more }))!;
}

/** How a run ended, and its log. */
export interface Ended {
  run: RunRow & { error_code: string | null; error_message: string | null };
  log: { level: 'info' | 'warning' | 'error'; message: string }[];
  /** Rows of its plan that were to change something. */
  changes: number;
}

/** Rows that change nothing. */
const quiet = ['skip', 'conflict', 'stage'];

export async function readRun({ services: { db } }: Parts, id: string): Promise<Ended> {
  const run = await db('itsm_runs').where({ id }).first();
  const log = await db('itsm_run_log').where({ run_id: id }).orderBy('id').select('level', 'message');
  const { planned = {} } = run.stats as RunRow['stats'];
  const changes = Object.entries(planned).reduce(
    (sum, [action, count]) => sum + (quiet.includes(action) ? 0 : count),
    0,
  );
  return { run, log, changes };
}

/** The rows of a run's plan that were to change something, as text. */
export async function describeChanges({ services: { db } }: World, { run }: Ended): Promise<string[]> {
  const rows = await query(db).rows`
     select action, side, remote_id, card_id, row ->> 'reason' as reason, row -> 'diff' as diff,
       progress, message
     from itsm_plan_rows where run_id = ${run.id} and not action = any(${quiet}) order by no limit 5`;
  return rows.map((row: unknown) => JSON.stringify(row));
}

type Thing = { id: string; description: string | null; alias: string | null };

/** All there is on one side, by name; names that occur twice are listed in `doubled`. */
export interface Side {
  things: Map<string, Thing>;
  doubled: string[];
  /** `application > component`. */
  relations: string[];
}

const text = (value: string | undefined | null): string | null => (value ? value : null);

function sideOf(rows: (Thing & { name: string })[], relations: string[]): Side {
  const things = new Map<string, Thing>();
  const doubled: string[] = [];
  for (const { name, ...thing } of rows) {
    if (things.has(name)) doubled.push(name);
    things.set(name, thing);
  }
  return { things, doubled, relations: relations.sort() };
}

export async function readLocal({ services: { db } }: Pick<World, 'services'>): Promise<Side> {
  const rows = await query(db).rows`
    select id, name, description, alias from cards
    where status = 'ACTIVE' and type = any(${kinds.map(({ cardType }) => cardType)}) order by name`;
  const related = await query(db).rows`
     select s.name || ' > ' || t.name as ends from relations r join cards s on s.id = r.source_id
     join cards t on t.id = r.target_id
     where r.type = ${relationType} and s.status = 'ACTIVE' and t.status = 'ACTIVE'`;
  return sideOf(
    rows,
    related.map(({ ends }: { ends: string }) => ends),
  );
}

export function readRemote({ instance: { store } }: Pick<World, 'instance'>): Side {
  const rows = [applications, components].flatMap(({ table }) =>
    store.of(table).map(({ values }) => ({
      id: values.sys_id!,
      name: values.name!,
      description: text(values.short_description),
      alias: text(values.version),
    })),
  );
  const nameOf = (id: string | undefined) => store.rows.get(id ?? '')?.values.name;
  const relations = store
    .of('cmdb_rel_ci')
    .map(({ values }) => `${nameOf(values.parent)} > ${nameOf(values.child)}`);
  return sideOf(rows, relations);
}

export const readSides = async (world: Pick<World, 'services' | 'instance'>) => ({
  local: await readLocal(world),
  remote: readRemote(world),
});

/** Records, or cards, of which a person has to say what is to become, since one side has removed them. */
export async function askedAbout(
  { services: { db } }: Pick<Parts, 'services'>,
  column: 'remote_id' | 'card_id',
): Promise<ReadonlySet<string>> {
  return new Set(
    await db('itsm_review_items').where({ kind: 'conflict', path: null }).whereNotNull(column).pluck(column),
  );
}
