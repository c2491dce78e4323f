import { planQuery } from '../../../../reports/analysis/query/query.plan.ts';
import { readQuestionAboutCards } from '../../../../reports/analysis/question/question.read.ts';
import { createVocabulary } from '../../../../reports/analysis/question/question.vocabulary.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { demo, demoTags, works, worksTags } from './landscapes.ts';
import { outcomeOf, questionsOf, TODAY } from './meanings.ts';

const t = closeAfterAll(await createTestServices());
for (const [name, tags] of Object.entries({ ...demoTags, ...worksTags })) {
  const [group] = await t.services.db('tag_groups').insert({ name }).returning('id');
  for (const tag of tags) await t.services.db('tags').insert({ tag_group_id: group.id, name: tag });
}
const own = await t.ctx();
const landscapes = { demo: demo(own.metamodel), works: works(own.metamodel) };

it.each([
  ['first.', 'demo', 160],
  ['second.', 'demo', 74],
  ['third.', 'demo', 100],
  ['third.', 'works', 93],
  ['fourth.', 'demo', 60],
  ['fourth.', 'works', 58],
] as const)(
  'understands most of the questions %s* about %s and misreads none',
  async (prefix, name, floor) => {
    const { metamodel, tags, cards } = landscapes[name];
    const ctx = { ...own, metamodel };
    const vocabulary = createVocabulary(metamodel, tags);
    const outcomes = { understood: [] as string[], refused: [] as string[], misread: [] as string[] };
    for (const asked of questionsOf(prefix, name)) {
      const { found } = await readQuestionAboutCards(vocabulary, cards, asked.q, TODAY);
      if ('query' in found) await planQuery(ctx, found.query);
      const outcome = outcomeOf(asked, found);
      const details = 'query' in found ? { ...found.query, limit: found.limit } : found;
      outcomes[outcome].push(`${asked.ask ? '' : '(no) '}${asked.q}\n    ${JSON.stringify(details)}`);
    }
    const { understood, refused, misread } = outcomes;
    if (process.env.QUESTIONS_SHOWN) console.log([...misread, ...refused].join('\n'));
    console.log(
      `${prefix}* about ${name}: understood ${understood.length}, refused ${refused.length}, misread ${misread.length}`,
    );
    expect(misread).toEqual([]);
    expect(understood.length).toBeGreaterThanOrEqual(floor);
  },
);
