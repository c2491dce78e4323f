import Type from 'typebox';
import { closed, Nullable } from '../../domain/kernel/shapes.ts';
import { queryExample, ReportQueryBody } from './reports.query.ts';

export const QuestionBody = Type.Object(
  {
    question: Type.String({
      minLength: 1,
      maxLength: 1_000,
      pattern: '\\S',
      description: 'In English or German',
    }),
    run: Type.Boolean({ default: true, description: 'Without it the query is only shown' }),
    use_model: Type.Boolean({
      default: true,
      description:
        'Whether a language model, where one is set up, may be asked what the rules do not understand',
    }),
  },
  closed,
);

export const QuestionAnswerSchema = Type.Object(
  {
    query: Type.Object(ReportQueryBody.properties, {
      ...closed,
      description: 'What was run: a body of POST /reports/query',
    }),
    read_by: Type.Union([Type.Literal('rules'), Type.Literal('model')]),
    reading: Type.Array(Type.String(), { description: 'What each part of the question was taken for' }),
    model: Nullable(
      Type.Object(
        { provider: Type.String(), model: Type.String(), prompt: Type.String() },
        { ...closed, description: 'What read it, where the rules did not' },
      ),
    ),
    answer: Nullable(Type.Ref('QueryAnswer#')),
  },
  { $id: 'QuestionAnswer', ...closed },
);

/** A question about the example of queries. */
export const questionAnswerExample = {
  query: { ...queryExample, having: [], page: 1, page_size: 1000 },
  read_by: 'rules',
  reading: ['cards: Application', 'sum of Total Annual Cost'],
  model: null,
  answer: null,
};
