import type { Knex } from 'knex';
import { embed, inTransaction, query } from '../../../platform/database.ts';
import { callerOfOwner, type Owned, OwnerRefused } from '../../access/jobs.owner.ts';
import type { Ctx } from '../../kernel/context.ts';
import { visibleEvents } from '../../kernel/events/events.visible.ts';
import { createContext, type Services } from '../../kernel/services.ts';
import { pause } from './webhooks.pause.ts';
import { WEBHOOKS } from './webhooks.queries.ts';

/** Events that one transaction plans, and the number of pending deliveries at which planning stops. */
const BATCH = 1_000;
const BACKLOG = 5_000;

interface Subscription extends Owned {
  id: string;
  name: string;
  owner_id: string;
  event_types: string[] | null;
  card_types: string[] | null;
  position: number;
}

/** A context with the rights of the owner of a webhook. @throws OwnerRefused. */
export async function ownerContext(services: Services, sql: Knex, subscription: Owned): Promise<Ctx> {
  const caller = await callerOfOwner(sql, subscription, 'webhook', [WEBHOOKS]);
  return await createContext(services, caller, { requestId: 'webhook', origin: 'system', tool: 'webhook' });
}

/**
 * Creates deliveries for the events after the position of each webhook, in batches. Any number of processes may run it.
 * @returns whether there may be more events to plan.
 */
export async function planDeliveries(services: Services): Promise<boolean> {
  const rows = await query(services.db).rows`select w.id from webhooks w
     where w.status = 'active' and w.position < coalesce((select max(position) from events), 0)
     order by w.position`;
  let more = false;
  for (const { id } of rows)
    more = (await inTransaction(services.db, (sql) => plan(services, sql, id))) || more;
  return more;
}

async function plan(services: Services, sql: Knex.Transaction, id: string): Promise<boolean> {
  const [subscription]: Subscription[] = (
    await sql.raw(
      `select w.id, w.name, w.owner_id, w.rights, w.event_types, w.card_types, w.position from webhooks w
       where w.id = ? and w.status = 'active'
         and (select count(*) from (select from webhook_deliveries d
              where d.webhook_id = w.id and d.status = 'pending' limit ${BACKLOG}) waiting) < ${BACKLOG}
       for update skip locked`,
      [id],
    )
  ).rows;
  if (!subscription) return false;
  let ctx: Ctx;
  try {
    ctx = await ownerContext(services, sql, subscription);
  } catch (error) {
    if (!(error instanceof OwnerRefused)) throw error;
    await pause(services, sql, subscription, `the owner ${error.reason}`);
    return false;
  }
  const visible = visibleEvents(ctx);
  const rows = await query(sql).rows`with looked as (
       select e.* from events e where e.position > ${subscription.position}
       order by e.position limit ${embed(BATCH)}
     ), wanted as (
       select e.position, e.event_type, coalesce(e.card_id, e.relation_id, e.id)::text as order_key
       from looked e
       where e.scope = 'inventory' and ${embed(visible)}
         and (${subscription.event_types}::text[] is null
         or e.event_type = any(${subscription.event_types}::text[]))
         and (${subscription.card_types}::text[] is null
         or e.card_type = any(${subscription.card_types}::text[])
         or e.peer_card_type = any(${subscription.card_types}::text[]))
       order by e.position
     ), planned as (
       insert into webhook_deliveries (webhook_id, position, event_type, order_key)
       select ${id}, position, event_type, order_key from wanted order by position returning 1
     )
     select (select max(position) from looked) as last, (select count(*)::int from looked) as looked,
            (select count(*)::int from planned) as planned`;
  const { last, looked } = rows[0];
  if (last !== null) await sql('webhooks').where({ id }).update({ position: last });
  return looked === BATCH;
}
