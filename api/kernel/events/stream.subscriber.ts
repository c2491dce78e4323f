import type { ServerResponse } from 'node:http';
import type { Caller } from '../../../domain/kernel/context.ts';
import { isHiddenType } from '../../../domain/kernel/events/events.visible.ts';
import type { FeedRow } from '../../../domain/kernel/events/feed.read.ts';
import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import type { AppPermission, TokenScope } from '../../../domain/kernel/permissions/permissions.data.ts';
import { inScope, may } from '../../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import type { Credential } from '../../../domain/kernel/sessions.ts';
import { streamLimits } from './stream.limits.ts';
import { isOpen } from './stream.write.ts';

/** The events that a client requested. */
export interface StreamFilter {
  /** Event types (`card.created`) or their prefixes (`card`); absent: all. */
  events?: string[];
  /** Card types; absent: all. */
  types?: string[];
}

/** One open stream. */
export interface Subscriber {
  userId: string;
  hasPermission(permission: AppPermission): boolean;
  /** Whether the scopes of a job (null: unlimited) are within the scopes of the stream's token. */
  coversScopes(scopes: TokenScope[] | null): boolean;
  seesAllCosts(): boolean;
  /** Whether a role on a card shows its costs. */
  seesCostsByRole(): boolean;
  /** Whether the event is visible to the user and requested. */
  wants(row: FeedRow, metamodel: Metamodel): boolean;
  /** Whether events of this type were requested. */
  asksFor(eventType: string): boolean;
  /** @returns false if the client is too slow: nothing further may be sent to it for now. */
  send(frame: Buffer): boolean;
  /** Sends a frame that is not stored, unless the client is too slow. */
  sendTransient(frame: Buffer): void;
  /**
   * Authenticates the token again; ends the stream if it is no longer valid.
   * @returns the versions of all topics, or undefined if the stream was ended.
   */
  refresh(): Promise<ReadonlyMap<string, number> | undefined>;
  end(): void;
  /** Ends the stream with a last frame that names the position to resume from. */
  endSlow(position: number): void;
}

const isWithin = (scopes: TokenScope[] | null, bounds: ReadonlySet<TokenScope>): boolean =>
  scopes?.every((scope) => bounds.has(scope)) ?? false;

/** The client sends its id as `Last-Event-ID` when it reconnects. */
const lastFrame = (position: number): string =>
  `id: ${position}\nevent: stream.end\ndata: ${JSON.stringify({ position: String(position), reason: 'slow' })}\n\n`;

export function createSubscriber(
  services: Services,
  response: ServerResponse,
  credential: Credential,
  first: Caller,
  filter: StreamFilter,
): Subscriber {
  let caller = first;
  const asksFor = (eventType: string) =>
    !filter.events || filter.events.some((kind) => eventType === kind || eventType.startsWith(`${kind}.`));
  const end = () => {
    clearTimeout(expiry || undefined);
    if (!isOpen(response)) return;
    response.end();
    // a client that does not read would keep the connection open
    const timer = setTimeout(() => response.destroy(), streamLimits.endMs);
    response.on('close', () => clearTimeout(timer));
  };
  const userId = first.userId!;
  const ends = first.tokenExpiresAt?.getTime();
  const expiry = ends && setTimeout(end, Math.min(ends - Date.now(), 2 ** 31 - 1));
  response.on('close', () => clearTimeout(expiry || undefined));

  return {
    userId,
    hasPermission: (permission) => may(caller, permission),
    coversScopes: (scopes) => caller.scopes === undefined || isWithin(scopes, caller.scopes),
    seesAllCosts: () => may(caller, 'costs.view'),
    seesCostsByRole: () => inScope(caller, 'costs.view'),
    asksFor,
    wants(row, metamodel) {
      if (!asksFor(row.event_type)) return false;
      if (row.scope === 'user') return row.recipient_id === userId && inScope(caller, 'account');
      if (row.scope !== 'inventory' || !may(caller, 'inventory.view')) return false;
      if (row.relation_id !== null && !may(caller, 'relations.view')) return false;
      if (isHiddenType(caller, row.event_type)) return false;
      const types = [row.card_type, row.peer_card_type].filter((type) => type !== null);
      if (types.some((type) => metamodel.cardTypes.get(type)?.is_hidden)) return false;
      return !filter.types || types.some((type) => filter.types!.includes(type));
    },
    send(frame) {
      if (!isOpen(response)) return false;
      response.write(frame);
      return response.writableLength < streamLimits.unsentBytes;
    },
    sendTransient(frame) {
      if (isOpen(response) && response.writableLength < streamLimits.unsentBytes) response.write(frame);
    },
    async refresh() {
      const { caller: now, topics } = await services.sessions.read(credential);
      if (!now) {
        end();
        return undefined;
      }
      caller = now;
      return topics;
    },
    end,
    endSlow(position) {
      if (!isOpen(response)) return;
      response.write(lastFrame(position));
      end();
    },
  };
}
