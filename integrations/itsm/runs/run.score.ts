import { setImmediate as breathe } from 'node:timers/promises';
import { matchListsInSteps } from '../../matching/match.ts';
import type { MatchField, MatchRecord } from '../../matching/matching.types.ts';
import type { Mapping } from '../engine/mapping.types.ts';
import type { Scored, Thing } from '../engine/match.ts';

/** Only what is all but sure is linked; what is more likely than not is put before a person. */
const thresholds = { match: 0.95, possible: 0.5 };
/** Above how many things on a side likeness is not looked for: it would take more memory than a run may. */
const MOST = 25_000;

/** Likeness of records and cards by the mapped fields that are texts, other work of the process between its steps. */
export function likeness(mapping: Mapping, signal: AbortSignal) {
  const fields = matchFields(mapping);
  return async (records: Thing[], cards: Thing[]): Promise<Scored[]> => {
    if (fields.length === 0 || records.length > MOST || cards.length > MOST) return [];
    const recordOf = ({ id, fields: values }: Thing): MatchRecord => ({
      id,
      values: Object.fromEntries(
        fields.map(({ name }) => {
          const value = values[name];
          return [name, typeof value === 'string' || typeof value === 'number' ? value : null];
        }),
      ),
    });
    const steps = matchListsInSteps(records.map(recordOf), cards.map(recordOf), { fields, thresholds });
    let step = steps.next();
    while (!step.done) {
      await breathe();
      signal.throwIfAborted();
      step = steps.next();
    }
    return step.value.pairs.map(({ left, right, score, class: verdict, evidence }) => ({
      remoteId: left,
      cardId: right,
      score,
      verdict,
      why: evidence
        .filter(({ similarity, bits }) => similarity !== null && bits !== 0)
        .map(({ aspect, similarity }) => `${aspect} ${Math.round((similarity ?? 0) * 100)} %`)
        .join(', '),
    }));
  };
}

/** What likeness is told by: the name above all, and whatever else is text. A reference or a date says too little. */
function matchFields({ fields }: Mapping): MatchField[] {
  return fields.flatMap(({ path, transform, identity }): MatchField[] => {
    if (transform.kind === 'reference' || transform.kind === 'date' || transform.kind === 'boolean')
      return [];
    if (path === 'name' || path === 'alias') return [{ name: path, kind: 'name' }];
    if (path === 'description') return [{ name: path, kind: 'text', weight: 0.5 }];
    if (identity || path === 'external_id') return [{ name: path, kind: 'code' }];
    return transform.kind === 'value_map' ? [{ name: path, kind: 'choice', weight: 0.5 }] : [];
  });
}
