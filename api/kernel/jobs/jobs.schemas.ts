import Type from 'typebox';
import { component, object, Uuid } from '../../../domain/kernel/shapes.ts';

export const StartedJobSchema = component(
  'StartedJob',
  {
    job_id: Uuid,
    status: Type.Literal('queued'),
    links: object({
      self: Type.String({ examples: ['/api/v1/jobs/01a1fc18-58f4-7000-aa03-cee0befc06d2'] }),
    }),
  },
  { description: 'The response of a request that started a job' },
);

/** The response of an operation that always starts a job. */
export const started = { 202: { description: 'The job has been started', schema: StartedJobSchema } };
