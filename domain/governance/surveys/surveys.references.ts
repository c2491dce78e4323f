import { fragment } from '../../../platform/database.ts';
import { References } from '../../inventory/metamodel/usage/references.ts';
import { defineConsumers } from '../../kernel/metamodel/consumers.define.ts';
import { may } from '../../kernel/permissions/policy.ts';
import type { SurveyRow } from './surveys.model.ts';

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
    found.type(type);
    for (const key of target_roles) found.role(key, scope);
    for (const { key, op, value } of target_filters.attribute_filters ?? []) {
      found.field(key, scope, op === 'eq' || op === 'ne' ? [value] : []);
    }
    found.filter(target_filters.filter, scope);
    for (const { key } of fields) {
      if (key.startsWith('relations.')) found.relationType(key.slice('relations.'.length));
      else found.field(key, scope);
    }
    return found.all;
  },
});
