import { demoLandscape } from '../../../../domain/app/demo/demo.landscape.ts';
import { planQuery } from '../../../../reports/analysis/query/query.plan.ts';
import type { CardLookUp } from '../../../../reports/analysis/question/question.cards.ts';
import { readQuestionAboutCards } from '../../../../reports/analysis/question/question.read.ts';
import { createVocabulary } from '../../../../reports/analysis/question/question.vocabulary.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { outcomeOf, questionsOf, TODAY } from './meanings.ts';

const t = closeAfterAll(await createTestServices());
const landscape = demoLandscape(TODAY);
for (const { name, tags } of landscape.tagGroups) {
  const [group] = await t.services.db('tag_groups').insert({ name }).returning('id');
  for (const tag of tags) await t.services.db('tags').insert({ tag_group_id: group.id, name: tag.name });
}
const ctx = await t.ctx();
const tags = landscape.tagGroups.flatMap(({ name, tags: ofGroup }) =>
  ofGroup.map((tag) => ({ group: name, tag: tag.name })),
);
const vocabulary = createVocabulary(ctx.metamodel, tags);

const wordsIn = (text: string) => ` ${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')} `;
const cards: CardLookUp = {
  named: (names) => {
    const asked = new Set(names.map((name) => name.toLowerCase()));
    return Promise.resolve(landscape.cards.filter(({ name }) => asked.has(name.toLowerCase())));
  },
  containing: (texts) =>
    Promise.resolve(
      texts.flatMap((text) => {
        const found = landscape.cards.filter(({ name }) => wordsIn(name).includes(wordsIn(text)));
        return [...new Set(found.map(({ type }) => type))].map((type) => ({ type, name: text }));
      }),
    ),
};

it.each([
  ['first.', 160],
  ['second.', 74],
])('understands most of the questions %s* and misreads none', async (prefix, floor) => {
  const outcomes = { understood: [] as string[], refused: [] as string[], misread: [] as string[] };
  for (const asked of questionsOf(prefix)) {
    const { found } = await readQuestionAboutCards(vocabulary, cards, asked.q, TODAY);
    if ('query' in found) await planQuery(ctx, found.query);
    const outcome = outcomeOf(asked, found);
    const details = 'query' in found ? { ...found.query, limit: found.limit } : found;
    outcomes[outcome].push(`${asked.ask ? '' : '(no) '}${asked.q}\n    ${JSON.stringify(details)}`);
  }
  const { understood, refused, misread } = outcomes;
  if (process.env.QUESTIONS_SHOWN) console.log([...misread, ...refused].join('\n'));
  console.log(
    `${prefix}*: understood ${understood.length}, refused ${refused.length}, misread ${misread.length}`,
  );
  expect(misread).toEqual([]);
  expect(understood.length).toBeGreaterThanOrEqual(floor);
});
