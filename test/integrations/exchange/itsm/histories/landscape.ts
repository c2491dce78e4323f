import type { Mapping, Value } from '../../../../../domain/exchange/itsm/mappings.types.ts';
import type { Pair, Path, Side } from '../../../../../integrations/exchange/itsm/engine/model.types.ts';
import type { Outcome, Plan, PlanRow } from '../../../../../integrations/exchange/itsm/engine/plan.types.ts';
import { mappedField, plainMapping } from '../mapping.support.ts';
import { type RunStep, type Setting, type UndoStep, type UserAction, usualSetting } from './steps.ts';

/** An undone run, and the plan of the undo. */
export interface UndoResult {
  of: Plan;
  undoPlan: Plan;
  /** The outcomes of its rows; undefined if it was interrupted. */
  outcomes: ReadonlyMap<number, Outcome> | undefined;
}

/** An existing card or record, with values in the form of its side. */
export type ObjectState = { id: string; fields: Record<Path, Value> };

/** The two sides and the engine, on which a history is executed: users' actions, runs and undos. It has several implementations. */
export interface Landscape {
  mapping: Mapping;
  objects(side: Side): Promise<ObjectState[]>;
  create(side: Side, fields: Record<Path, Value>): Promise<string>;
  edit(side: Side, id: string, path: Path, value: Value): Promise<void>;
  /** @param forGood an archived card can be restored, a deleted one cannot. */
  remove(side: Side, id: string, forGood: boolean): Promise<void>;
  /** Cards that are archived and can be restored, with their keys. */
  archived(): Promise<{ id: string; key: Value }[]>;
  restore(cardId: string): Promise<void>;
  merge(side: Side, from: string, into: string): Promise<void>;
  /** @returns false when a write of the card has begun. */
  unmap(cardId: string): Promise<boolean>;
  decide(conflict: PlanRow, winner: Side): Promise<void>;
  /** The conflicts of the newest plan. */
  conflicts(): Promise<PlanRow[]>;
  pairs(): Promise<Pair[]>;
  /** From the id of a merged card to that of the survivor. */
  redirects(): Promise<Map<string, string>>;
  /** Whether a user has to decide about a card or a record of the newest plan. */
  isStaged(id: string): Promise<boolean>;
  /** Whether a plan has begun and not ended. */
  isPending(): Promise<boolean>;
  /** Executes a run after resuming a pending one. @returns the new plan; null if the pending one was interrupted. */
  run(step: RunStep, act: (act: UserAction) => Promise<void>): Promise<Plan | null>;
  /** Undoes a run after resuming a pending one. @returns null if the pending one was interrupted. */
  undo(step: UndoStep, act: (act: UserAction) => Promise<void>): Promise<UndoResult | null>;
}

/** The mapped fields besides the key. */
export const PATHS = ['name', 'attributes.end', 'attributes.note', 'relations.relRememberedAt'] as const;
export const KEY = 'attributes.key';

/** The mapping of a history's setting: four fields with a rule each, and the key as identity. */
export function mappingOf(over: Partial<Setting> = {}): Mapping {
  const setting = { ...usualSetting, ...over };
  const [name = 'manual', end = 'manual', note = 'manual', place = 'manual'] = setting.rules;
  return plainMapping({
    fields: [
      mappedField('name', 'name', { direction: name }),
      mappedField('attributes.end', 'u_end', {
        direction: end,
        transform_type: 'date_format',
        transform_config: { remote: 'datetime' },
      }),
      mappedField('attributes.note', 'u_note', {
        direction: note,
        transform_type: 'expression',
        transform_config: { to_local: 'bare', to_remote: 'marked' },
      }),
      mappedField(PATHS[3], 'u_place', {
        direction: place,
        transform_type: 'reference',
        transform_config: { mapping_id: null },
      }),
      mappedField(KEY, 'u_key', { direction: 'remote_leads', is_identity: true }),
    ],
    record_defaults: { u_source: 'estate' },
    sync_mode: setting.deletion,
    max_deletions: 1_000,
    quarantine_minutes: (setting.quarantine * STEP_MS) / 60_000,
    complete_reads: setting.hasLookups ? 0 : 2,
  });
}

/** The duration of a step of the clock. */
export const STEP_MS = 1_000;

/** Evaluates the formulas of the mapping: notes have a prefix at the remote. */
export function evaluate(formula: string, value: Value): Value {
  if (value === null) return null;
  return formula === 'marked' ? `R:${value}` : String(value).replace(/^r:/i, '');
}

/** The ids of a place, to which cards and records refer: a card and a record that no history changes. */
export const placeCard = (serial: number): string =>
  `00000000-0000-4000-8000-${String(serial).padStart(12, '0')}`;
export const placeRecord = (serial: number): string => `place${serial}`;
/** The place of an id of either side; undefined if it is no place. */
export function placeOf(key: string): number | undefined {
  const [, card, record] = /^00000000-0000-4000-8000-(\d{12})$|^place(\d+)$/.exec(key) ?? [];
  const digits = card ?? record;
  return digits === undefined ? undefined : Number(digits);
}
const convertPlace = (key: string, idOf: (serial: number) => string): string | undefined => {
  const serial = placeOf(key);
  return serial === undefined ? undefined : idOf(serial);
};
/** Resolves places. */
export const places = {
  cardOf: (remoteId: string) => convertPlace(remoteId, placeCard),
  recordOf: (cardId: string) => convertPlace(cardId, placeRecord),
};

/** A form of a value that is equal on both sides. */
export function tokenOf(path: Path, value: Value): string | null {
  if (value === null) return null;
  const text = String(value);
  if (path === 'attributes.end') return `end ${text.slice(0, 10)}`;
  if (path === PATHS[3]) return `place ${placeOf(text) ?? text}`;
  if (path === 'attributes.note') return `note ${text.replace(/^r:/i, '').toLowerCase()}`;
  return `${path} ${text}`;
}

/** A new value in the form of a side. */
export function valueOnSide(side: Side, path: Path, serial: number): Value {
  if (path === 'attributes.end') {
    const day = new Date(Date.UTC(2000, 0, 1 + serial)).toISOString().slice(0, 10);
    return side === 'local' ? day : `${day} 08:30:00`;
  }
  if (path === PATHS[3]) return side === 'local' ? placeCard(serial) : placeRecord(serial);
  if (path === 'attributes.note') return side === 'local' ? `V${serial}` : `R:V${serial}`;
  return `v${serial}`;
}

/** What users have to decide in the newest plan of a landscape. */
export const reviewOf = (newest: () => Plan | null): Pick<Landscape, 'conflicts' | 'isStaged'> => ({
  conflicts: async () => newest()?.rows.filter(({ action }) => action === 'conflict') ?? [],
  isStaged: async (id) =>
    newest()?.rows.some(
      ({ action, cardId, remoteId, candidates }) =>
        action === 'stage' &&
        (cardId === id || remoteId === id || candidates.some((one) => one.cardId === id)),
    ) ?? false,
});
