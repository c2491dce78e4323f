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
  // Tested last: most cards have started a phase.
  return fragment`case ${embed(joinFragments(started, ' '))} when ${of} is null or ${of} = '{}' then 'none' else 'plan' end`;
}

/** The rank of that phase, an integer from 1; NULL without any date. @param today a date from the code. */
export function phaseRank(lifecycle: string, today: string): string {
  const started = lifecyclePhases
    .map((phase, n) => `when ${lifecycle} ->> '${phase}' <= '${today}' then ${n + 1}`)
    .toReversed();
  return `(case ${started.join(' ')} when ${lifecycle} is null or ${lifecycle} = '{}' then null else 1 end)`;
}
