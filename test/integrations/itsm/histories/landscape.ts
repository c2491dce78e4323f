import type { Pair } from '../../../../integrations/itsm/engine/book.types.ts';
import type {
  FieldMapping,
  Mapping,
  Path,
  Side,
} from '../../../../integrations/itsm/engine/mapping.types.ts';
import type { Plan, PlanRow } from '../../../../integrations/itsm/engine/plan.types.ts';
import type { Value } from '../../../../integrations/itsm/engine/values.ts';
import type { PersonAct, RunStep, Setting } from './steps.ts';

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
}

/** The fields in play besides the key. */
export const PATHS = ['name', 'attributes.end', 'attributes.note'] as const;
export const KEY = 'attributes.key';

/** The mapping that a history's setting asks for: three fields with a rule each, and the key that tells who is who. */
export function mappingOf(setting: Setting): Mapping {
  const [name = 'manual', end = 'manual', note = 'manual'] = setting.rules;
  const direct = { kind: 'direct' } as const;
  const fields: FieldMapping[] = [
    { path: 'name', remote: 'name', rule: name, transform: direct, identity: false },
    {
      path: 'attributes.end',
      remote: 'u_end',
      rule: end,
      transform: { kind: 'date', remote: 'datetime' },
      identity: false,
    },
    {
      path: 'attributes.note',
      remote: 'u_note',
      rule: note,
      transform: { kind: 'expression', toLocal: 'bare', toRemote: 'marked' },
      identity: false,
    },
    { path: KEY, remote: 'u_key', rule: 'remote_leads', transform: direct, identity: true },
  ];
  return {
    id: 'm',
    cardType: 'Application',
    table: 'cmdb_ci_appl',
    direction: 'bidirectional',
    fields,
    relations: [],
    defaults: { local: {}, remote: { u_source: 'estate' } },
    filtered: false,
    deletion: {
      mode: setting.deletion,
      maxCount: 1_000,
      maxRatio: 1,
      quarantineMs: setting.quarantine * STEP_MS,
      completeReads: setting.looks ? 0 : 2,
    },
  };
}

/** What a step of the clock takes. */
export const STEP_MS = 1_000;

/** The formulas of the mapping: the remote puts a mark in front of notes. */
export function evaluate(formula: string, value: Value): Value {
  if (value === null) return null;
  return formula === 'marked' ? `R:${value}` : String(value).replace(/^r:/i, '');
}

/** A value by which it is known wherever it is and however it is spelled there. */
export function tokenOf(path: Path, value: Value): string | null {
  if (value === null) return null;
  const text = String(value);
  if (path === 'attributes.end') return `end ${text.slice(0, 10)}`;
  if (path === 'attributes.note') return `note ${text.replace(/^r:/i, '').toLowerCase()}`;
  return `${path} ${text}`;
}

/** A value as people write it on a side. */
export function spelled(side: Side, path: Path, serial: number): Value {
  if (path === 'attributes.end') {
    const day = new Date(Date.UTC(2000, 0, 1 + serial)).toISOString().slice(0, 10);
    return side === 'local' ? day : `${day} 08:30:00`;
  }
  if (path === 'attributes.note') return side === 'local' ? `V${serial}` : `R:V${serial}`;
  return `v${serial}`;
}
