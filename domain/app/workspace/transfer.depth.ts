import { embed, fragment } from '../../../platform/database.ts';
import type { EstateError } from '../../../platform/errors.ts';
import { hierarchyTooDeep, MAX_DEPTH } from '../../inventory/cards/cards.tree.ts';
import {
  CAPABILITY_TYPE,
  capabilityTooDeep,
  hasLevels,
  LEVEL_FIELD,
  MACRO,
  maxDepth,
} from '../../inventory/cards/rules/capability.ts';
import { skipMatching } from './transfer.diff.ts';
import type { Checking } from './transfer.rows.ts';

const reason = ({ code, message, errors }: EstateError) => {
  const [error] = errors ?? [];
  const why = {
    code: error?.code ?? code,
    message: error ? `${error.field} ${error.message}` : message,
    field: 'parent_id',
  };
  return fragment`${JSON.stringify(why)}::jsonb`;
};

/**
 * Skips cards that would lie below the maximum depth of a hierarchy, of cards here and in the archive, and capabilities
 * below their last level.
 */
export async function skipTooDeep(checking: Checking): Promise<void> {
  const capability = checking.metamodel!.cardTypes.get(CAPABILITY_TYPE);
  const leveled = capability && hasLevels(capability) ? CAPABILITY_TYPE : null;
  const tooDeep = fragment`case when deep.level > ${embed(MAX_DEPTH)} then ${embed(reason(hierarchyTooDeep()))}
       when deep.under_macro then ${embed(reason(capabilityTooDeep(true)))}
       else ${embed(reason(capabilityTooDeep(false)))} end`;
  await skipMatching(checking, 'cards', tooDeep)`join (
         with recursive up as (
           select x.line, x.content ->> 'type' as type, x.content ->> 'parent_id' as at, 1 as level,
             x.content #>> '{attributes,${embed(LEVEL_FIELD)}}' as top
           from workspace_transfer_rows x
           where x.transfer_id = ${checking.transferId}::uuid and x.kind = 'cards' and x.action in ('create', 'update')
           union all
           select u.line, u.type, case when x.line is null then c.parent_id::text else x.content ->> 'parent_id' end,
             u.level + 1, case when x.line is null then c.attributes ->> '${embed(LEVEL_FIELD)}'
               else x.content #>> '{attributes,${embed(LEVEL_FIELD)}}' end
           from up u
           left join workspace_transfer_rows x on x.transfer_id = ${checking.transferId}::uuid and x.kind = 'cards'
             and x.ref = u.at and x.action <> 'conflict'
           left join cards c on c.id = u.at::uuid
           where u.at is not null and u.level <= ${embed(MAX_DEPTH)}
         )
         select line, level, coalesce(top = '${embed(MACRO)}', false) as under_macro from up
         where level > ${embed(MAX_DEPTH)} or (at is null and type = ${leveled}::text
           and level > case when top = '${embed(MACRO)}' then ${embed(maxDepth(true))} else ${embed(maxDepth(false))} end)
       ) deep on deep.line = s.line`;
}
