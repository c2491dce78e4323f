import Type, { type Static } from 'typebox';
import type { SecretBox } from '../../../platform/crypto.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound, requireText } from '../../../platform/errors.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import { throttle } from '../../access/access.throttle.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';
import { defineList, listFor } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, readItem } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText } from '../../kernel/lists/lists.types.ts';
import { enqueueMessages } from '../../kernel/mail/mail.enqueue.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { changeRow, createRow, removeRow } from '../../kernel/resources/items.ts';
import { lockRow } from '../../kernel/resources/rows.ts';
import { readSetting } from '../../kernel/settings/settings.read.ts';
import { object } from '../../kernel/shapes.ts';
import { newId } from '../items.ts';
import { addressRefusal } from './channels.address.ts';
import { Channel, type ChannelKind, type ChannelRow } from './channels.model.ts';

/** The right to channels of one's own; shared ones need the second. */
const OWN = 'notifications.manage';
const SHARED = 'admin.settings';

/** The channels that the caller may use, over the alias `c`: the own and the shared ones. */
const usableChannels = ({ caller }: Pick<Ctx, 'caller'>): Condition =>
  fragment`(c.is_shared or c.owner_id = ${caller.userId}::uuid)`;

/** The caller's channels and the shared ones, without their addresses. */
export const channelList = defineList({
  name: 'channels',
  permission: OWN,
  from: 'channels c join users u on u.id = c.owner_id',
  id: 'c.id',
  sorts: {
    name: { sql: 'lower(c.name)', type: 'text', filled: true },
    ...columnSorts('c', Channel, 'created_at'),
  },
  defaultSort: 'name',
  members: { ...columnMembers('c', Channel.shown), owner_name: 'u.display_name' },
  search: 'fold(c.name)',
  where: (ctx) => [usableChannels(ctx)],
});

const { name, kind, is_shared, notifies, status } = Channel.columns;
const url = Type.String({
  minLength: 1,
  maxLength: 2000,
  examples: ['https://hooks.slack.com/services/T0/B0/x'],
  description: 'The address of the webhook: stored encrypted and never returned',
});
export const ChannelCreateBody = object({
  name,
  kind,
  url,
  is_shared: Type.Optional(is_shared),
  notifies: Type.Optional(notifies),
});
export const ChannelPatchBody = object({
  name: Type.Optional(name),
  url: Type.Optional(url),
  is_shared: Type.Optional(is_shared),
  notifies: Type.Optional(notifies),
  status: Type.Optional(status),
});
type ChannelPatch = Static<typeof ChannelPatchBody>;

interface ChannelTools {
  secrets: SecretBox;
  outbound: Pick<Outbound, 'refusal' | 'isNamed'>;
}

/** The encryption context of an address. */
export const channelContext = (id: string): string => `channel.${id}`;

/** A write of a channel; the address is a secret, which only the change of the host shows. */
function channelEvent(before: ChannelRow | null, after: ChannelRow | null): EventDraft {
  const shown = (row: ChannelRow | null) => {
    if (!row) return null;
    const { secret: _, waits_until: __, ...others } = row;
    return others;
  };
  const { id, owner_id, name } = (after ?? before)!;
  return { ...rowEvent('channel', shown(before), shown(after), { id, name }), recipient_id: owner_id };
}

const readText = async (ctx: Ctx, sql: Work['sql'] | Ctx['db'], id: string): Promise<JsonText> =>
  await readItem(sql, listFor(ctx, channelList), 'channel', id, [usableChannels(ctx)]);

/** One channel. @throws EstateError `forbidden`, `not_found`. */
export async function readChannel(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, OWN);
  return await readText(ctx, ctx.db, id);
}

/** The most channels of one person, and of all. */
export const MOST_CHANNELS = { own: 20, all: 1_000 };

/** @throws EstateError `limit_reached`. */
async function requireRoom(ctx: Ctx, { sql }: Work): Promise<void> {
  // channels that the owner adds at once are counted one after the other
  await query(sql).run`select from users where id = ${ctx.caller.userId}::uuid for no key update`;
  const { own, all } = (await query(sql).row<{ own: number; all: number }>`select count(*)::int as all,
      (count(*) filter (where owner_id = ${ctx.caller.userId}::uuid))::int as own from channels`)!;
  if (own >= MOST_CHANNELS.own) {
    const message = `You can have at most ${MOST_CHANNELS.own} channels; delete one that you do not use.`;
    throw new EstateError('limit_reached', message);
  }
  if (all < MOST_CHANNELS.all) return;
  throw new EstateError('limit_reached', `A workspace can have at most ${MOST_CHANNELS.all} channels.`);
}

/** Adds a channel. @throws EstateError `forbidden`, `limit_reached`, `validation_failed`. */
export async function createChannel(
  ctx: Ctx,
  tools: ChannelTools,
  input: Static<typeof ChannelCreateBody>,
): Promise<JsonText> {
  requirePermission(ctx.caller, OWN);
  if (input.is_shared) requirePermission(ctx.caller, SHARED);
  const { url, ...given } = input;
  check(given);
  return await command(ctx, async (work) => {
    await requireRoom(ctx, work);
    const id = await newId(work.sql);
    const address = addressColumns(ctx, tools, id, input.kind, url);
    const values = {
      ...given,
      id,
      ...address,
      name: requireText(input.name, 'name'),
      owner_id: ctx.caller.userId!,
    };
    await createRow(work, Channel, values, channelEvent);
    return await readText(ctx, work.sql, id);
  });
}

/** Changes a channel of one's own, or a shared one. @throws EstateError `forbidden`, `not_found`, `validation_failed`. */
export async function patchChannel(
  ctx: Ctx,
  tools: ChannelTools,
  id: string,
  { url, ...patch }: ChannelPatch,
): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const before = await locked(ctx, work, id);
    if (patch.is_shared && !before.is_shared) requirePermission(ctx.caller, SHARED);
    if (patch.is_shared === false && before.owner_id !== ctx.caller.userId)
      throw new EstateError('forbidden', 'Only the owner can keep a channel; delete it to end its use.');
    check({ ...before, ...patch });
    const values = {
      ...patch,
      ...(patch.name === undefined ? {} : { name: requireText(patch.name, 'name') }),
      ...(url === undefined ? {} : addressColumns(ctx, tools, before.id, before.kind, url)),
      ...(patch.status === 'active' ? { paused_reason: null, waits_until: null } : {}),
      ...(patch.status === 'paused' && before.status === 'active'
        ? { paused_reason: 'paused by a user' }
        : {}),
    };
    await changeRow(work, Channel, before, values, channelEvent);
    return await readText(ctx, work.sql, id);
  });
}

/** Deletes a channel; pending messages are not sent. @throws EstateError `forbidden`, `not_found`. */
export async function deleteChannel(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    await removeRow(work, Channel, await locked(ctx, work, id), channelEvent);
  });
}

/**
 * Sends a message that tells that the channel works.
 * @throws EstateError `forbidden`, `not_found`, `too_many_requests`, `wrong_state`.
 */
export async function testChannel(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const channel = await locked(ctx, work, id);
    if (channel.status === 'paused')
      throw new EstateError('wrong_state', 'The channel is paused; resume it first.');
    await throttle(work.sql, 'channel', [`user ${ctx.caller.userId}`]);
    const app = (await readSetting(work.sql, 'app_title')) || 'Estate';
    const paragraphs = [`Messages of ${app} arrive here.`];
    await enqueueMessages(work.sql, ctx, [{ channel: id, parts: { heading: channel.name, paragraphs } }]);
    work.emit({
      event_type: 'channel.tested',
      recipient_id: channel.owner_id,
      data: { id, name: channel.name },
    });
  });
}

/** Locks a channel that the caller may change. */
async function locked(ctx: Ctx, work: Work, id: string): Promise<ChannelRow> {
  requirePermission(ctx.caller, OWN);
  const row = await lockRow(work.sql, Channel, { id: id.toLowerCase() });
  const isOwn = row?.owner_id === ctx.caller.userId;
  if (!row || !(isOwn || row.is_shared)) throw notFound('channel', id);
  if (!isOwn || row.is_shared) requirePermission(ctx.caller, SHARED);
  checkIfMatch(ctx, await readText(ctx, work.sql, id));
  return row;
}

function check({ is_shared, notifies }: { is_shared?: boolean; notifies?: boolean }): void {
  if (is_shared && notifies) {
    throw invalidField('notifies', 'not_offered', 'is not offered for shared channels: others see them');
  }
}

function addressColumns(
  { caller }: Ctx,
  { secrets, outbound }: ChannelTools,
  id: string,
  kind: ChannelKind,
  url: string,
) {
  const refusal = addressRefusal(outbound, kind, url, may(caller, SHARED));
  if (refusal !== undefined) throw invalidField('url', 'refused_address', refusal);
  return { host: new URL(url).host, secret: secrets.seal(url, channelContext(id)) };
}

/** Whether the caller may send to a channel now. @returns why not. */
export async function channelRefusal(
  sql: Work['sql'] | Ctx['db'],
  ctx: Ctx,
  id: string,
): Promise<string | undefined> {
  const row = await query(sql).row<{
    status: string;
    paused_reason: string | null;
  }>`select c.status, c.paused_reason
    from channels c where c.id = ${id}::uuid and ${embed(usableChannels(ctx))}`;
  if (!row || !may(ctx.caller, OWN))
    return 'The channel is gone, or no longer shared with the owner of the schedule.';
  return row.status === 'paused' ? `The channel is paused: ${row.paused_reason}` : undefined;
}
