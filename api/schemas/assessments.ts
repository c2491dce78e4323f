import Type from 'typebox';
import { SessionData } from '../../domain/analysis/architect/architect.input.ts';
import { closed, DateOnly, Nullable, OpenObject, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

const Title = Type.String({ minLength: 1, maxLength: 200 });
const Requirement = Type.String({ minLength: 1, maxLength: 20_000 });
export const AssessmentStatus = Type.Union([Type.Literal('saved'), Type.Literal('committed')]);

export const AssessmentCreateBody = Type.Object(
  { title: Title, requirement: Requirement, sessionData: SessionData },
  closed,
);
export const AssessmentPatchBody = Type.Object(
  {
    title: Type.Optional(Title),
    requirement: Type.Optional(Requirement),
    sessionData: Type.Optional(SessionData),
  },
  closed,
);

export const AssessmentSchema = Type.Object(
  {
    id: Uuid,
    title: Type.String(),
    requirement: Type.String(),
    status: AssessmentStatus,
    initiative_id: Nullable(Uuid),
    initiative_name: Nullable(Type.String({ description: 'Null also where you do not see the initiative' })),
    created_by: Nullable(Uuid),
    created_by_name: Nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
    session_data: Nullable(OpenObject),
    decision_draft: Nullable(Type.String({ description: 'Markdown; set when it was committed' })),
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
      description: 'Ids of cards in the `architecture` that the session keeps',
    }),
    selectedRelationIndices: Type.Array(Type.Integer({ minimum: 0, maximum: 999 }), {
      maxItems: 1000,
      description: 'Places of relations in it, from 0 on',
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
      description: 'The chosen relations, then those of the initiative, also those that were there already',
    }),
    adr_id: Type.String({ ...Uuid, description: 'The draft as a decision record, linked to the cards' }),
    decision_draft: Type.String({ description: 'Markdown; kept with the session' }),
  },
  { $id: 'CommittedAssessment', ...closed },
);
