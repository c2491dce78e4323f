import Type from 'typebox';
import { SessionData } from '../../domain/analysis/architect/architect.input.ts';
import { Assessment } from '../../domain/analysis/assessments/assessments.model.ts';
import { closed, DateOnly, Nullable, Uuid } from '../../domain/kernel/shapes.ts';

const { title, requirement, session_data } = Assessment.columns;

export const AssessmentCreateBody = Type.Object({ title, requirement, sessionData: SessionData }, closed);
export const AssessmentPatchBody = Type.Object(
  {
    title: Type.Optional(title),
    requirement: Type.Optional(requirement),
    sessionData: Type.Optional(SessionData),
  },
  closed,
);

export const AssessmentSchema = Type.Object(
  {
    ...Assessment.columns,
    session_data: Nullable(session_data),
    initiative_name: Nullable(Type.String({ description: 'Null where you do not see the initiative' })),
    created_by_name: Nullable(Type.String()),
  },
  { $id: 'Assessment', ...closed },
);
/** An assessment in a list, cut to the members that were asked for. */
export const AssessmentItemSchema = Type.Partial(AssessmentSchema, { $id: 'AssessmentItem', ...closed });

const ProposedId = Type.String({ minLength: 1, maxLength: 100 });
export const CommitBody = Type.Object(
  {
    assessmentId: Uuid,
    initiativeName: Type.String({ minLength: 1, maxLength: 500 }),
    startDate: DateOnly,
    endDate: DateOnly,
    selectedCardIds: Type.Array(ProposedId, {
      maxItems: 300,
      description: 'Ids of cards in the `architecture` of the session',
    }),
    selectedRelationIndices: Type.Array(Type.Integer({ minimum: 0, maximum: 999 }), {
      maxItems: 1000,
      description: 'Indexes of relations in it, from 0',
    }),
    objectiveIds: Type.Optional(Nullable(Type.Array(Uuid, { maxItems: 50 }))),
    renamedCards: Type.Optional(
      Nullable(
        Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 500 }), {
          description: 'Other names for chosen new cards, by their ids',
        }),
      ),
    ),
  },
  closed,
);
export const commitExample = {
  assessmentId: '0198c0de-2222-7000-8000-000000000001',
  initiativeName: 'One order desk',
  startDate: '2027-01-01',
  endDate: '2027-12-31',
  selectedCardIds: ['new-1'],
  selectedRelationIndices: [0],
  objectiveIds: ['0198c0de-1111-7000-8000-000000000001'],
  renamedCards: { 'new-1': 'OrderWorks' },
};

export const CommittedSchema = Type.Object(
  {
    initiative_id: Uuid,
    card_ids: Type.Array(Uuid, { description: 'In the order of `selectedCardIds`' }),
    relation_ids: Type.Array(Uuid, {
      description: 'The chosen relations, then those of the initiative, including existing ones',
    }),
    adr_id: Type.String({ ...Uuid, description: 'The draft as a decision record, linked to the cards' }),
    decision_draft: Type.String({ description: 'Markdown; stored with the session' }),
  },
  { $id: 'CommittedAssessment', ...closed },
);
