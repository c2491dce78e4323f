import { linkKey } from './book.ts';
import type { AgreedLink } from './book.types.ts';
import type { Side } from './mapping.types.ts';
import type { LinkReading } from './observation.types.ts';
import { addRow, cardOfPair, type Planning } from './plan.draft.ts';

/** A relation as each side has it, named by the records that speak for its cards. */
interface LinkState {
  link: AgreedLink;
  cards: { relationType: string; source: string; target: string };
  base: boolean;
  local: boolean;
  /** As the remote names it, which may be by a record that a merge brought along. */
  remote: AgreedLink[];
}

/**
 * Plans relations between mapped things. A relation is there or not, so both sides can only have moved to the same:
 * what one side added or took away alone is added or taken away on the other.
 */
export function planLinks(planning: Planning): void {
  const reading = planning.seen.links;
  if (!reading) return;
  for (const state of gather(planning, reading).values()) planLink(planning, reading, state);
}

function gather(planning: Planning, reading: LinkReading): Map<string, LinkState> {
  const { identities, mapping, book } = planning;
  const types = new Set(mapping.relations.map(({ relationType }) => relationType));
  const states = new Map<string, LinkState>();
  const isWaiting = (end: string | undefined) =>
    end !== undefined && book.pairs.get(end)?.state.kind !== 'linked';
  const stateOf = (type: string, sourceCard?: string, targetCard?: string): LinkState | undefined => {
    const [source, target] = [sourceCard, targetCard].map((card) =>
      card && cardOfPair(planning, card) ? identities.recordOf(card) : undefined,
    );
    if (isWaiting(source) || isWaiting(target)) return undefined;
    if (!types.has(type) || source === undefined || target === undefined) return undefined;
    const link = { relationType: type, source, target };
    const key = linkKey(link);
    const cards = { relationType: type, source: sourceCard!, target: targetCard! };
    const state = states.get(key) ?? { link, cards, base: false, local: false, remote: [] };
    states.set(key, state);
    return state;
  };
  const ended = ({ source, target }: AgreedLink) =>
    [source, target].some((end) => identities.cardOf(end) === undefined);
  const cards = ({ source, target }: AgreedLink) =>
    [identities.cardOf(source), identities.cardOf(target)] as const;
  for (const link of book.links.values()) {
    const state = stateOf(link.relationType, ...cards(link));
    if (state) state.base = true;
    // what was agreed about a pair that has ended is over
    else if (ended(link))
      addRow(planning, { action: 'unrelate', reason: 'An end of the relation is gone', link });
  }
  for (const { relationType, source, target } of reading.local) {
    const state = stateOf(relationType, source, target);
    if (state) state.local = true;
  }
  for (const link of reading.remote) stateOf(link.relationType, ...cards(link))?.remote.push(link);
  return states;
}

function planLink(planning: Planning, { complete }: LinkReading, state: LinkState): void {
  const { link, cards, base, local, remote } = state;
  // a reading of a part shows what is there, but not what is not
  const there = remote.length > 0 || (!complete && base);
  if (local === there) {
    if (base === there) return;
    const action = there ? 'relate' : 'unrelate';
    const reason = there ? 'Both sides have the relation' : 'Neither side has the relation any more';
    addRow(planning, { action, reason, link });
    return;
  }
  const side: Side = local === base ? 'local' : 'remote';
  const add = side === 'local' ? there : local;
  if (planning.mapping.direction === (side === 'local' ? 'push' : 'pull')) return;
  if (!complete && add && side === 'remote' && !base) return;
  if (!add && planning.mapping.deletion.mode === 'additive') return;
  const where = side === 'local' ? 'at the remote' : 'here';
  const reason = `The relation was ${add ? 'added' : 'removed'} ${where}`;
  const targets = !add && side === 'remote' ? remote : [link];
  for (const one of targets)
    addRow(planning, { action: add ? 'relate' : 'unrelate', side, reason, link: one, baseLink: link, cards });
}
