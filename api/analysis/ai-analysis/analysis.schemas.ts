import Type from 'typebox';
import { component, object, Uuid } from '../../../domain/kernel/shapes.ts';

/** The response of every operation that starts a run. */
export const StartedRunSchema = component('StartedRun', {
  run_id: Uuid,
  job_id: Uuid,
  status: Type.Literal('running'),
  links: object({ self: Type.String(), job: Type.String() }),
});
