import { type Db, embed, inTransaction, query, type Transaction } from '../../../platform/database.ts';
import { callerOfOwner, type Owned, OwnerRefused } from '../../access/jobs.owner.ts';
import { recordEvents } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { visibleData, visibleEvents } from '../../kernel/events/events.visible.ts';
import type { JobRights } from '../../kernel/jobs/jobs.enqueue.ts';
import { enqueueMail, isMailAddress } from '../../kernel/mail/mail.enqueue.ts';
import type { RowOf } from '../../kernel/resources/rows.ts';
import { createContext, type Services, systemContext } from '../../kernel/services.ts';
import { WEBHOOKS } from './webhooks.commands.ts';
import type { Webhook, WebhookFormat } from './webhooks.model.ts';

/** Events that one transaction plans, and the number of pending deliveries at which planning stops. */
const BATCH = 1_000;
const BACKLOG = 5_000;

type Subscription = Owned &
  Pick<RowOf<typeof Webhook>, 'id' | 'name' | 'owner_id' | 'event_types' | 'card_types' | 'position'>;

/** A context with the rights of the owner of a webhook. @throws OwnerRefused. */
export async function ownerContext(services: Services, sql: Db, subscription: Owned): Promise<Ctx> {
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

async function plan(services: Services, sql: Transaction, id: string): Promise<boolean> {
  const [subscription]: Subscription[] = await query(sql)
    .rows`select w.id, w.name, w.owner_id, w.rights, w.event_types, w.card_types, w.position from webhooks w
       where w.id = ${id} and w.status = 'active'
         and (select count(*) from (select from webhook_deliveries d
              where d.webhook_id = w.id and d.status = 'pending' limit ${embed(BACKLOG)}) waiting) < ${embed(BACKLOG)}
       for update skip locked`;
  if (!subscription) return false;
  let ctx: Ctx;
  try {
    ctx = await ownerContext(services, sql, subscription);
  } catch (error) {
    if (!(error instanceof OwnerRefused)) throw error;
    await pause(services, sql, subscription, `the owner ${error.reason}`);
    return false;
  }
  const rows = await query(sql).rows`with looked as (
       select e.* from events e where e.position > ${subscription.position}
       order by e.position limit ${embed(BATCH)}
     ), wanted as (
       select e.position, e.event_type, coalesce(e.card_id, e.relation_id, e.id)::text as order_key
       from looked e
       where e.scope = 'inventory' and ${embed(visibleEvents(ctx))}
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

/** A delivery whose sender was lost is sent again after this time. */
const LEASE_SECONDS = 90;
const FIRST_RETRY_SECONDS = 5;
const LAST_RETRY_SECONDS = 3_600;
/** A webhook is paused after so many failures over at least so many seconds. */
const PAUSE_FAILURES = 50;
const PAUSE_AFTER_SECONDS = 6 * 3_600;

/** A delivery that this process has leased. */
export interface ClaimedDelivery {
  id: string;
  webhook_id: string;
  webhook_name: string;
  url: string;
  format: WebhookFormat;
  owner_id: string;
  rights: JobRights;
  secret: string;
  /** Null after it has expired. */
  previous_secret: string | null;
  position: number | null;
  event_type: string;
  attempts: number;
  /** Whether the last attempt of its webhook failed. */
  failing: boolean;
}

/** The result of an attempt. */
export interface Attempt {
  /** The receiver's status, or null when there was no answer. */
  status: number | null;
  error: string | null;
  ms: number;
  /** `Retry-After` of the receiver in seconds. */
  retryAfter?: number;
}

/** Maximum attempts of one webhook at once: of one that works, and of one whose last attempt failed. */
const AT_ONCE = { working: 8, failing: 1 };

/**
 * Leases deliveries that are due: for each order key only the oldest, so that they are sent in order. Webhooks take turns, and
 * those that work come first, so that a receiver that does not answer does not delay others.
 * @param failing the maximum number for webhooks whose last attempt failed
 */
export async function claimDeliveries(
  { db }: Services,
  limit: number,
  failing: number,
): Promise<ClaimedDelivery[]> {
  return await query(db).rows`with share as (
       select w.id, w.failures > 0 as failing,
         case when w.failures > 0 then ${embed(AT_ONCE.failing)} else ${embed(AT_ONCE.working)} end
           - (select count(*) from webhook_deliveries l where l.webhook_id = w.id and l.status = 'pending'
               and l.leased_until > now()) as free
       from webhooks w where w.status = 'active'
     ), due as (
       select d.id, s.failing, d.next_attempt_at,
         row_number() over (partition by s.id order by d.next_attempt_at, d.id) as turn
       from share s cross join lateral (
         select d.id, d.next_attempt_at from webhook_deliveries d
         where d.webhook_id = s.id and d.status = 'pending' and d.next_attempt_at <= now()
           and (d.leased_until is null or d.leased_until < now())
           and not exists (select from webhook_deliveries o where o.webhook_id = d.webhook_id
             and o.order_key = d.order_key and o.status = 'pending' and o.id < d.id)
         order by d.next_attempt_at, d.id limit greatest(s.free, 0)
       ) d
     ), chosen as (
       select id from (
         (select * from due where not failing)
         union all
         (select * from due where failing order by next_attempt_at, id limit ${failing})
       ) c order by failing, turn, next_attempt_at, id limit ${limit}
     ), locked as (
       select d.id from webhook_deliveries d join chosen c on c.id = d.id
       where d.status = 'pending' and (d.leased_until is null or d.leased_until < now())
       for update of d skip locked
    ), claimed as (
       update webhook_deliveries d set leased_until = now() + make_interval(secs => ${embed(LEASE_SECONDS)}),
         attempts = attempts + 1
       from locked where d.id = locked.id returning d.*
     )
     select d.id, d.webhook_id, w.name as webhook_name, w.url, w.format, w.owner_id, w.rights, w.secret,
       case when w.previous_secret_until > now() then w.previous_secret end as previous_secret,
       d.position, d.event_type, d.attempts, w.failures > 0 as failing
     from claimed d join webhooks w on w.id = d.webhook_id order by d.id`;
}

/** The event of a delivery as its owner sees it; undefined when it was deleted or is no longer visible. */
export async function deliveredEvent(
  ctx: Ctx,
  position: number,
): Promise<Record<string, unknown> | undefined> {
  const rows = await query(ctx.db).rows`select json_build_object('position', e.position::text, 'event_type',
    e.event_type, 'card_id', e.card_id,
       'peer_card_id', e.peer_card_id, 'relation_id', e.relation_id, 'at', utc(e.at),
       'actor', case when u.id is null then null
                else json_build_object('id', u.id, 'display_name', u.display_name) end,
       'data', ${embed(visibleData(ctx))}) as event
     from events e left join users u on u.id = e.user_id
     where e.position = ${position} and ${embed(visibleEvents(ctx))}`;
  return rows[0]?.event;
}

/** Releases a delivery to another process when this one ends, without counting an attempt. */
export async function releaseDelivery({ db }: Services, delivery: ClaimedDelivery): Promise<void> {
  await query(db).run`update webhook_deliveries set leased_until = null, attempts = attempts - 1
    where id = ${delivery.id} and status = 'pending'`;
}

/** Releases a delivery and pauses its webhook, whose owner may no longer send. */
export async function pauseRefused(
  services: Services,
  delivery: ClaimedDelivery,
  { reason }: OwnerRefused,
): Promise<void> {
  const webhook = { id: delivery.webhook_id, name: delivery.webhook_name, owner_id: delivery.owner_id };
  await inTransaction(services.db, (sql) => pause(services, sql, webhook, `the owner ${reason}`));
  await releaseDelivery(services, delivery);
}

/** Ends a delivery that can no longer be sent. */
export async function abandonDelivery(
  { db }: Services,
  delivery: ClaimedDelivery,
  error: string,
): Promise<void> {
  await query(db).run`update webhook_deliveries
    set status = 'dead', error = ${error}, leased_until = null, finished_at = now()
    where id = ${delivery.id}`;
}

/**
 * Saves the result of an attempt: delivered, pending with exponential backoff, or dead after 24 hours. A receiver that
 * answers 410, or keeps failing, pauses its webhook.
 */
export async function settleDelivery(
  services: Services,
  delivery: ClaimedDelivery,
  attempt: Attempt,
): Promise<void> {
  const ok = attempt.status !== null && attempt.status >= 200 && attempt.status < 300;
  const wait = Math.min(FIRST_RETRY_SECONDS * 2 ** (delivery.attempts - 1), LAST_RETRY_SECONDS);
  const pauseFor = Math.min(
    Math.max(attempt.retryAfter ?? 0, wait * (0.75 + Math.random() / 2)),
    LAST_RETRY_SECONDS,
  );
  await inTransaction(services.db, async (sql) => {
    // the webhook is locked first, as its deletion does
    const { rows } = await sql.raw(
      ok
        ? `update webhooks set failures = 0, failing_since = null, last_delivered_at = now() where id = ?
           returning false as failing`
        : `update webhooks set failures = failures + 1, failing_since = coalesce(failing_since, now()) where id = ?
           returning failures >= ${PAUSE_FAILURES}
             and failing_since < now() - make_interval(secs => ${PAUSE_AFTER_SECONDS}) as failing`,
      [delivery.webhook_id],
    );
    if (!rows[0]) return;
    await query(sql).run`update webhook_deliveries
      set leased_until = null, response_status = ${attempt.status}::int, error = ${attempt.error},
      duration_ms = ${attempt.ms},
         status = case when ${ok} then 'delivered' when expires_at < now() then 'dead' else 'pending' end,
         finished_at = case when ${ok} or expires_at < now() then now() end,
         next_attempt_at = now() + make_interval(secs => ${pauseFor})
       where id = ${delivery.id} and status = 'pending'`;
    const webhook = { id: delivery.webhook_id, name: delivery.webhook_name, owner_id: delivery.owner_id };
    if (attempt.status === 410)
      await pause(services, sql, webhook, 'the receiver answered that it is gone (410)');
    else if (rows[0].failing) await pause(services, sql, webhook, 'the receiver has failed for six hours');
  });
}

/** Pauses a webhook until a user sets it active, and mails the reason to its owner. */
async function pause(
  services: Services,
  sql: Transaction,
  webhook: { id: string; name: string; owner_id: string },
  reason: string,
): Promise<void> {
  const changed = await sql('webhooks')
    // not where another user has become the owner
    .where({ id: webhook.id, owner_id: webhook.owner_id, status: 'active' })
    .update({ status: 'paused', paused_reason: reason, updated_at: sql.fn.now() });
  if (changed === 0) return;
  const ctx = await systemContext(services, 'webhook');
  // the mail for a service account goes to its owner
  const owner = await sql('users as u')
    .join('users as p', 'p.id', sql.raw("case u.kind when 'service' then u.owner_id else u.id end"))
    .where({ 'u.id': webhook.owner_id, 'p.is_active': true })
    .first('p.email');
  if (owner && isMailAddress(owner.email)) {
    await enqueueMail(sql, ctx, {
      to: owner.email,
      subject: `The webhook ${webhook.name} is paused`,
      text: `Estate has paused the webhook "${webhook.name}": ${reason}.\n\nNothing is lost: set its status to active, and it goes on in the change feed where it stopped.\n`,
    });
  }
  const changes = { status: { old: 'active', new: 'paused' }, paused_reason: { old: null, new: reason } };
  await recordEvents(sql, ctx, [{ event_type: 'webhook.paused', data: { id: webhook.id, changes } }], []);
}
