import { fragment } from '../../../platform/database.ts';
import { References } from '../../inventory/metamodel/usage/references.ts';
import { defineConsumers } from '../../kernel/metamodel/consumers.define.ts';
import { presentValue } from '../../kernel/metamodel/deprecations.ts';
import { may } from '../../kernel/permissions/policy.ts';
import type { SurveyRow } from './surveys.model.ts';
import { renameInSurvey } from './surveys.rename.ts';

/** Surveys that are not closed. */
export const surveyConsumers = defineConsumers<
  Pick<SurveyRow, 'target_type_key' | 'target_filters' | 'target_roles' | 'fields'>
>({
  tables: ['surveys'],
  rows: (ctx) => fragment`select s.id::text, 'survey' as kind, s.name, s.created_by as owner_id,
      (select max(r.responded_at) from survey_responses r where r.survey_id = s.id) as last_used_at,
      '/api/v1/surveys/' || s.id as link, ${may(ctx.caller, 'surveys.manage')}::boolean as is_visible,
      jsonb_build_object('target_type_key', s.target_type_key, 'target_filters', s.target_filters,
        'target_roles', s.target_roles, 'fields', s.fields) as content
    from surveys s where s.status <> 'closed'`,
  references({ target_type_key: type, target_filters, target_roles, fields }, metamodel) {
    const found = new References(metamodel);
    const scope = [type];
    const of = { kind: 'card', type } as const;
    found.type(type);
    for (const key of target_roles) found.role(key, scope);
    for (const one of target_filters.attribute_filters ?? []) {
      if (one.value !== undefined && (one.op === 'eq' || one.op === 'ne'))
        one.value = found.value(one.key, scope, one.value);
      one.key = found.field(one.key, scope);
    }
    if (target_filters.filter) target_filters.filter = found.filter(target_filters.filter, scope);
    for (const field of fields) {
      if (field.key.startsWith('relations.')) found.relationType(field.key.slice('relations.'.length));
      else field.key = found.field(field.key, scope);
      // they are those of the time when the survey was saved, which it does not need
      for (const option of field.options ?? [])
        option.key = presentValue(metamodel, of, field.key, option.key);
    }
    return found.all;
  },
  async write(work, id, { target_filters, fields }) {
    await renameInSurvey(work, id, { target_filters, fields });
  },
});
