import type { Mapping, Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type { Pair, Path, Side } from '../../../../integrations/itsm/engine/model.types.ts';
import type { Outcome, Plan, PlanRow } from '../../../../integrations/itsm/engine/plan.types.ts';
import { mappedField, plainMapping } from '../mapping.support.ts';
import type { PersonAct, RunStep, Setting, UndoStep } from './steps.ts';

/** A run that was taken back, and the plan that took it back. */
export interface Undone {
  of: Plan;
  back: Plan;
  /** How its rows have ended; undefined when it was interrupted. */
  outcomes: ReadonlyMap<number, Outcome> | undefined;
}

/** A card or a record that is there, in the words of its own side. */
export interface Shown {
  id: string;
  fields: Record<Path, Value>;
}

/**
 * The two sides and the engine between them, as a history sees them: people's acts, runs, and what is there. The
 * same histories run through whatever implements it.
 */
export interface Landscape {
  mapping: Mapping;
  shown(side: Side): Promise<Shown[]>;
  create(side: Side, fields: Record<Path, Value>): Promise<string>;
  edit(side: Side, id: string, path: Path, value: Value): Promise<void>;
  /** @param forGood an archived card can come back, one that was deleted for good cannot. */
  remove(side: Side, id: string, forGood: boolean): Promise<void>;
  /** Cards that are archived and can be restored, with their keys. */
  archived(): Promise<{ id: string; key: Value }[]>;
  restore(cardId: string): Promise<void>;
  merge(side: Side, from: string, into: string): Promise<void>;
  /** @returns false when a write about the card is on its way. */
  unmap(cardId: string): Promise<boolean>;
  decide(conflict: PlanRow, winner: Side): Promise<void>;
  /** Open questions of the newest plan. */
  conflicts(): Promise<PlanRow[]>;
  pairs(): Promise<Pair[]>;
  /** Merged cards: from the one that went to the one that stayed. */
  redirects(): Promise<Map<string, string>>;
  /** Whether the newest plan leaves a card or a record to a person. */
  staged(id: string): Promise<boolean>;
  /** Whether a plan is begun and not done. */
  pending(): Promise<boolean>;
  /** A run, which first goes on with what is pending. @returns the new plan, if it came to one. */
  run(step: RunStep, act: (act: PersonAct) => Promise<void>): Promise<Plan | null>;
  /** Takes a run back, once what is pending has come to an end. @returns null if it did not come to that. */
  undo(step: UndoStep, act: (act: PersonAct) => Promise<void>): Promise<Undone | null>;
}

/** The fields in play besides the key. */
export const PATHS = ['name', 'attributes.end', 'attributes.note', 'relations.relRememberedAt'] as const;
export const KEY = 'attributes.key';

/** The mapping that a history's setting asks for: four fields with a rule each, and the key that tells who is who. */
export function mappingOf(setting: Setting): Mapping {
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
    complete_reads: setting.looks ? 0 : 2,
  });
}

/** What a step of the clock takes. */
export const STEP_MS = 1_000;

/** The formulas of the mapping: the remote puts a mark in front of notes. */
export function evaluate(formula: string, value: Value): Value {
  if (value === null) return null;
  return formula === 'marked' ? `R:${value}` : String(value).replace(/^r:/i, '');
}

/** A place that cards and records are at, as each side calls it: a card and a record that no history touches. */
export const placeCard = (serial: number): string =>
  `00000000-0000-4000-8000-${String(serial).padStart(12, '0')}`;
export const placeRecord = (serial: number): string => `place${serial}`;
/** Which place a key of either side is; undefined for what is none. */
export function placeOf(key: string): number | undefined {
  const [, card, record] = /^00000000-0000-4000-8000-(\d{12})$|^place(\d+)$/.exec(key) ?? [];
  const digits = card ?? record;
  return digits === undefined ? undefined : Number(digits);
}
const translated = (key: string, tell: (serial: number) => string): string | undefined => {
  const serial = placeOf(key);
  return serial === undefined ? undefined : tell(serial);
};
/** Who is who among the places. */
export const places = {
  cardOf: (remoteId: string) => translated(remoteId, placeCard),
  recordOf: (cardId: string) => translated(cardId, placeRecord),
};

/** A value by which it is known wherever it is and however it is spelled there. */
export function tokenOf(path: Path, value: Value): string | null {
  if (value === null) return null;
  const text = String(value);
  if (path === 'attributes.end') return `end ${text.slice(0, 10)}`;
  if (path === PATHS[3]) return `place ${placeOf(text) ?? text}`;
  if (path === 'attributes.note') return `note ${text.replace(/^r:/i, '').toLowerCase()}`;
  return `${path} ${text}`;
}

/** A value as people write it on a side. */
export function spelled(side: Side, path: Path, serial: number): Value {
  if (path === 'attributes.end') {
    const day = new Date(Date.UTC(2000, 0, 1 + serial)).toISOString().slice(0, 10);
    return side === 'local' ? day : `${day} 08:30:00`;
  }
  if (path === PATHS[3]) return side === 'local' ? placeCard(serial) : placeRecord(serial);
  if (path === 'attributes.note') return side === 'local' ? `V${serial}` : `R:V${serial}`;
  return `v${serial}`;
}
