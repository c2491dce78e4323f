import type { FieldError } from '../../../../platform/errors.ts';
import { isDay } from '../../../kernel/dates.ts';
import { type LifecyclePhase, lifecyclePhases } from '../../../kernel/metamodel/metamodel.types.ts';
import type { Lifecycle } from './card.types.ts';

const phases: ReadonlySet<string> = new Set(lifecyclePhases);

/** Checks the phases that are sent: known ones, with existing days; null clears a phase. */
export function checkLifecycle(input: Record<string, unknown>): FieldError[] {
  return Object.entries(input).flatMap(([phase, day]) => {
    const field = `lifecycle.${phase}`;
    if (!phases.has(phase)) {
      return { field, code: 'unknown_phase', message: `is none of ${lifecyclePhases.join(', ')}` };
    }
    if (day === null || (typeof day === 'string' && isDay(day))) return [];
    return { field, code: 'bad_date', message: 'is not an existing date as YYYY-MM-DD' };
  });
}

/** Checks that no phase begins before the one that precedes it; one day may begin several. */
export function checkLifecycleOrder(lifecycle: Lifecycle | null): FieldError[] {
  if (!lifecycle) return [];
  const faults: FieldError[] = [];
  let latest: LifecyclePhase | undefined;
  for (const phase of lifecyclePhases) {
    const day = lifecycle[phase];
    if (day === undefined) continue;
    if (latest !== undefined && day < lifecycle[latest]!) {
      faults.push({
        field: `lifecycle.${phase}`,
        code: 'lifecycle_order',
        message: `lies before ${latest}`,
      });
    } else {
      latest = phase;
    }
  }
  return faults;
}
