import { fragment } from '../../../../platform/database.ts';
import type { Fragment } from '../../../kernel/lists/lists.types.ts';

/**
 * The events `e` that are work on cards: those of a rename, or of another change of the metamodel by a job, only say that values
 * follow it.
 */
export const isWork: Fragment = fragment`not exists (select from mutation_batches b where b.id = e.batch_id
  and (b.tool_name like 'POST /api/v1/metamodel/%/rename' or b.tool_name = 'job metamodel_change'))`;
