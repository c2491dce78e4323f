import { embed, fragment, joinFragments } from '../../../platform/database.ts';
import type { Fragment } from '../../kernel/lists/lists.types.ts';
import { lifecyclePhases } from '../../kernel/metamodel/metamodel.types.ts';

/**
 * The lifecycle phase of a card on a date, as SQL over a jsonb expression: the last phase that has started; `plan`
 * if all are in the future; `none` without any date.
 */
export function phaseOn(lifecycle: string, today: string): Fragment {
  const of = embed(lifecycle);
  const started = lifecyclePhases
    .toReversed()
    .map((phase) => fragment`when ${of} ->> '${embed(phase)}' <= ${today} then '${embed(phase)}'`);
  return fragment`case when ${of} is null or ${of} = '{}' then 'none' ${embed(joinFragments(started, ' '))} else 'plan' end`;
}

/** The rank of that phase, from 1; NULL without any date. @param today a date from the code. */
export function phaseRank(lifecycle: string, today: string): string {
  const started = lifecyclePhases
    .map((phase, n) => `when ${lifecycle} ->> '${phase}' <= '${today}' then ${n + 1}`)
    .toReversed();
  return `(case when ${lifecycle} is null or ${lifecycle} = '{}' then null ${started.join(' ')} else 1 end)::numeric`;
}
