import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type {
  LocalCard,
  Observation,
  Pair,
  SyncState,
} from '../../../../integrations/exchange/itsm/engine/model.types.ts';
import type { Plan } from '../../../../integrations/exchange/itsm/engine/plan.types.ts';
import { applyChanges, emptySyncState } from '../../../../integrations/exchange/itsm/engine/state.ts';
import type { RecordLookup, RemoteRecord } from '../../../../integrations/exchange/itsm/remote.ts';
import { evaluate, mappingOf } from './histories/landscape.ts';
import { planInMemory, type Scorer } from './memory.plans.ts';

export const mapping = (over: Partial<Mapping> = {}): Mapping => ({
  ...mappingOf({ quarantine: 60 }),
  ...over,
});
export const NOW = '2026-06-01T12:00:00.000Z';

export const card = (id: string, name: string, key: string | null = null): LocalCard => ({
  id,
  type: 'Application',
  archived: false,
  fields: { name, 'attributes.key': key },
  inFilter: true,
  updatedAt: NOW,
});
export const record = (id: string, name: string, key: string | null = null): RemoteRecord => ({
  table: 'cmdb_ci_appl',
  id,
  fields: { name: { value: name }, u_key: { value: key ?? '' } },
  updatedAt: NOW,
});
export const pair = (remoteId: string, cardId: string, name: string, over: Partial<Pair> = {}): Pair => ({
  remoteId,
  cardId,
  origin: 'linked',
  state: { kind: 'linked' },
  base: {
    name: { local: name, remote: name },
    'attributes.end': { local: null, remote: null },
    'attributes.note': { local: null, remote: null },
    'relations.relRememberedAt': { local: null, remote: null },
    'attributes.key': { local: null, remote: null },
  },
  absences: 0,
  ...over,
});
export const syncStateOf = (...pairs: Pair[]): SyncState => {
  const syncState = emptySyncState();
  applyChanges(
    syncState,
    pairs.map((one) => ({ op: 'pair', pair: one })),
  );
  return syncState;
};

/** The input of a plan. */
export interface Given {
  cards?: LocalCard[];
  records?: RemoteRecord[];
  kind?: 'complete' | 'delta';
  tombstones?: string[];
  lookups?: [string, RecordLookup][];
  redirects?: [string, string][];
  over?: Partial<Observation>;
}
export const observationOf = (given: Given): Observation => ({
  remote: {
    kind: given.kind ?? 'complete',
    records: given.records ?? [],
    tombstones: (given.tombstones ?? []).map((id) => ({ table: 'cmdb_ci_appl', id, at: NOW })),
    lookups: new Map(given.lookups),
    watermark: NOW,
  },
  local: {
    cards: new Map((given.cards ?? []).map((one) => [one.id, one])),
    redirects: new Map(given.redirects),
  },
  resolutions: [],
  decisions: [],
  now: NOW,
  remoteClockAheadMs: 0,
  ...given.over,
});
/** Plans in one part. */
export const planned = (
  syncState: SyncState,
  given: Given,
  of = mapping(),
  score: Scorer = () => [],
): Promise<Plan> => planInMemory('p', of, syncState, observationOf(given), { score, evaluate });
/** The rows of a plan, each as `action side card record`. */
export const summarize = ({ rows }: Plan) =>
  rows.map(({ action, side, cardId, remoteId }) =>
    [action, side, cardId, remoteId].filter(Boolean).join(' '),
  );
/** The same of a plan that is made in one part. */
export const planRows = async (...args: Parameters<typeof planned>) => summarize(await planned(...args));
