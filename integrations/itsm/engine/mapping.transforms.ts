import type { FieldMapping } from './mapping.types.ts';
import { canonical, same, told, type Value } from './values.ts';

/** A value told on the other side, or why it cannot be told there; `awaits`: until this card or record is mapped. */
export type Told = { ok: true; value: Value } | { ok: false; problem: string; awaits?: string };

/** What transforms need from around them. */
export interface Surroundings {
  /** The card that a remote key is mapped to; undefined for none. */
  cardOf: (remoteId: string) => string | undefined;
  /** The remote key that a card is mapped to; undefined for none. */
  recordOf: (cardId: string) => string | undefined;
  /** Whether a card is above its new parent already, by the parents of either side. */
  makesCircle?: (cardId: string, parentId: string) => boolean;
  /** Runs a formula over `value` within bounds. @throws Error whose message is shown to the admin. */
  evaluate: (formula: string, value: Value) => Value;
}

const ok = (value: Value): Told => ({ ok: true, value: canonical(value) });
const problem = (text: string): Told => ({ ok: false, problem: text });
const unmapped = (text: string, id: Value): Told =>
  typeof id === 'string' ? { ok: false, problem: text, awaits: id } : problem(text);

const DECIMAL = /^[+-]?\d+(\.\d+)?$/;
const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const MOMENT = /^(\d{4}-\d{2}-\d{2})[ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z?$/;

function isDay(text: string): boolean {
  const parts = DAY.exec(text);
  if (!parts) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** What the inventory would hold for a remote value. An empty value is empty on both sides. */
export function toLocal({ transform, remote }: FieldMapping, value: Value, around: Surroundings): Told {
  if (value === null && transform.kind !== 'value_map' && transform.kind !== 'expression') return ok(null);
  switch (transform.kind) {
    case 'direct':
      return ok(value);
    case 'number': {
      const number = typeof value === 'string' && DECIMAL.test(value.trim()) ? Number(value) : value;
      return typeof number === 'number' ? ok(number) : problem(`${told(value)} in '${remote}' is no number`);
    }
    case 'value_map': {
      const pair = transform.pairs.find((one) => same(canonical(one.remote), value));
      if (pair) return ok(pair.local);
      return value === null
        ? ok(null)
        : problem(`the value map of '${remote}' has no entry for ${told(value)}`);
    }
    case 'date': {
      const text = typeof value === 'string' ? value.trim() : '';
      const day = DAY.test(text) ? text : MOMENT.exec(text)?.[1];
      return day !== undefined && isDay(day) ? ok(day) : problem(`${told(value)} in '${remote}' is no date`);
    }
    case 'boolean':
      if (transform.yes.some((one) => same(canonical(one), value))) return ok(true);
      if (transform.no.some((one) => same(canonical(one), value))) return ok(false);
      return problem(`${told(value)} in '${remote}' is neither yes nor no`);
    case 'reference': {
      const card = typeof value === 'string' ? around.cardOf(value) : undefined;
      return card === undefined
        ? unmapped(`${told(value)} in '${remote}' is mapped to no card`, value)
        : ok(card);
    }
    case 'expression':
      return evaluated(transform.toLocal, value, remote, around);
  }
}

/** What the remote would hold for a value of the inventory. */
export function toRemote({ transform, path }: FieldMapping, value: Value, around: Surroundings): Told {
  if (value === null && transform.kind !== 'value_map' && transform.kind !== 'expression') return ok(null);
  switch (transform.kind) {
    case 'direct':
    case 'number':
      return ok(value);
    case 'value_map': {
      const pair = transform.pairs.find((one) => same(canonical(one.local), value));
      if (pair) return ok(pair.remote);
      return value === null
        ? ok(null)
        : problem(`the value map of '${path}' has no entry for ${told(value)}`);
    }
    case 'date': {
      if (typeof value !== 'string' || !isDay(value))
        return problem(`${told(value)} in '${path}' is no date`);
      return ok(transform.remote === 'date' ? value : `${value} 00:00:00`);
    }
    case 'boolean': {
      const written = value === true ? transform.yes[0] : value === false ? transform.no[0] : undefined;
      return written === undefined
        ? problem(`${told(value)} in '${path}' is neither yes nor no`)
        : ok(written);
    }
    case 'reference': {
      if (Array.isArray(value))
        return problem(`there are ${value.length} cards in '${path}', and a column holds one`);
      const record = typeof value === 'string' ? around.recordOf(value) : undefined;
      return record === undefined
        ? unmapped(`the card in '${path}' is mapped to no record`, value)
        : ok(record);
    }
    case 'expression':
      if (transform.toRemote === undefined) return problem(`'${path}' has no formula for the way out`);
      return evaluated(transform.toRemote, value, path, around);
  }
}

function evaluated(formula: string, value: Value, where: string, around: Surroundings): Told {
  try {
    return ok(around.evaluate(formula, value));
  } catch (error) {
    return problem(`the formula of '${where}' failed: ${(error as Error).message}`);
  }
}
