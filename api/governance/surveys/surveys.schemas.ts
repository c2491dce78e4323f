import Type from 'typebox';
import { SurveyActionName } from '../../../domain/governance/surveys/surveys.model.ts';
import { OpenObject, object } from '../../../domain/kernel/shapes.ts';

export const field = {
  key: Type.String(),
  label: Type.String(),
  type: Type.String(),
  section: Type.String(),
  action: SurveyActionName,
  options: Type.Optional(Type.Array(object({ key: Type.String(), label: Type.String() }))),
  translations: Type.Optional(OpenObject),
};

const Answer = object({
  current_value: Type.Unknown(),
  new_value: Type.Unknown(),
  confirmed: Type.Boolean(),
});
export const Answers = Type.Record(Type.String(), Answer, { description: 'By the key of the field' });
