/** A record. */

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { AdrContent, AdrInput } from '../../../../domain/governance/adr/adr.kind.ts';
import { adrLists, adrTexts, readContent } from '../../../../domain/governance/adr/adr.kind.ts';
import { InvalidFrontMatter, readMadr, writeMadr } from '../../../../domain/governance/adr/madr.ts';
import { forAll } from '../../../support/property.ts';

const facts = { status: 'proposed', date: '2026-11-22', reference: 'ADR-007', revision: 2 };
const empty = Object.fromEntries([
  ...adrTexts.map((name) => [name, null]),
  ...adrLists.map((name) => [name, []]),
]) as unknown as AdrContent;
const whole = (content: Partial<AdrContent>): AdrContent => ({ ...empty, title: 'A decision', ...content });
/** As the service stores what it has read. */
const again = (text: string): AdrContent => {
  const { content, errors } = readContent(readMadr(text).input);
  expect(errors).toEqual([]);
  return { ...empty, ...content };
};

const record = readFileSync(new URL('./madr.record.md', import.meta.url), 'utf8');

it('is read by its sections, and written as it was', () => {
  const content = again(record);
  expect(content).toEqual({
    title: 'Take orders in one place',
    context: 'Orders come in by four systems.',
    decision_drivers: '* stocks',
    alternatives_considered: '* One desk\n* Four systems',
    decision: 'Chosen option: "One desk".',
    consequences: '* Good, because stocks are right.',
    confirmation: 'A review.',
    pros_and_cons: '### One desk\n\n* Good',
    more_information: 'None.',
    decision_makers: ['Ann', 'Ben'],
    consulted: [],
    informed: [],
    related_decisions: ['ADR-003'],
  });
  expect(writeMadr(content, facts)).toBe(record);
  expect(readMadr(record).notes).toEqual([]);
});

it('of another form is read as far as it goes, and says what is left', () => {
  const { input, notes } = readMadr(
    '\ufeff---\r\nstatus: accepted\r\ndeciders: Ann, Ben\r\ntags: [x]\r\n---\r\n# 1. Use it\r\n\r\nFirst.\r\n\r\n## Status\r\n\r\nAccepted\r\n\r\n## Context\r\n\r\nWhy\r\n\r\n## Decision\r\n\r\nIt\r\n\r\n### Positive Consequences\r\n\r\n* a\r\n\r\n### Negative Consequences\r\n\r\n* b\r\n',
  );
  expect(readContent(input).content).toEqual({
    title: '1. Use it',
    context: 'First.\n\n## Status\n\nAccepted\n\nWhy',
    decision: 'It',
    consequences: '### Positive Consequences\n\n* a\n\n### Negative Consequences\n\n* b',
    decision_makers: ['Ann', 'Ben'],
  });
  expect(notes).toEqual([
    'The record says "accepted"; here a decision is a draft until it is signed.',
    'Left out of its head: tags.',
  ]);
  expect(readMadr('no title').input.title).toBeUndefined();
  expect(readMadr('Setext\n===\n\ntext').input).toMatchObject({ title: 'Setext' });
  for (const bad of ['---\na: [\n---\n# T', '---\n- a\n---\n# T', '---\na: &x [1]\nb: *x\n---\n# T'])
    expect(() => readMadr(bad)).toThrow(InvalidFrontMatter);
});

it('keeps headings in code where they are', () => {
  const context = '```md\n## Decision Outcome\n\nnot here\n```';
  const text = writeMadr(whole({ context }), facts);
  expect(text).not.toContain('marks:');
  expect(again(text)).toEqual(whole({ context }));
});

it('is marked where its texts would be taken for sections', () => {
  const content = whole({
    context: 'A\n\n## Decision Outcome\n\nB',
    decision: '```\nnever closed',
    title: 'Ends with #',
  });
  const text = writeMadr(content, facts);
  expect(text).toContain('marks: part-');
  expect(again(text)).toEqual(content);
});

it('is read again as it was written, whatever stands in it', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '## Decision Outcome',
      '### Consequences',
      '# Title',
      '---',
      '===',
      '```',
      '~~~',
      '\n',
      '\n\n',
      '    ',
      '<!--',
      '-->',
      '<div>',
      '* a',
      '1. b',
      '> c',
      '[x]: http://a.example',
      '|a|b|\n|-|-|',
      '\t',
      '\\',
      '&amp;',
      'text',
      '<!-- part-',
      'marks: x',
    ),
    fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => text.isWellFormed() && !text.includes('\0')),
  );
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('\n'));
  const line = fc.oneof(
    fc.constantFrom('C #', '# a', '- x', 'true', '1', 'a: b', '[x', "it's", '---'),
    fc.string({ minLength: 1, maxLength: 12 }),
  );
  const given = fc.record(
    Object.fromEntries([
      ['title', line],
      ...adrTexts.map((name) => [name, text]),
      ...adrLists.map((name) => [name, fc.array(line, { maxLength: 3 })]),
    ]),
    { requiredKeys: ['title'] as never[] },
  );
  forAll(60, [given], (input) => {
    const { content, errors } = readContent(input as AdrInput);
    fc.pre(errors.length === 0);
    const stored = { ...empty, ...content } as AdrContent;
    expect(again(writeMadr(stored, facts))).toEqual(stored);
  });
});
