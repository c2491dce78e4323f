import { createEraser, pseudonymOf } from '../../../domain/access/erasure/erasure.rules.ts';

const id = '0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b11';
const other = '0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b12';
const p = pseudonymOf(id);
const eraser = createEraser(
  { id, emails: ['Ada@Old.example', 'ada@new.example'], names: ['Ada', 'Ada (King) Lovelace'] },
  p,
);

it('has the same pseudonym for the same person, and another for another', () => {
  expect(pseudonymOf(id)).toEqual(p);
  expect(pseudonymOf(other)).not.toEqual(p);
  expect(p.name).toMatch(/^Erased user [0-9a-f]{8}$/);
});

it('replaces whole words in texts of the service, the longest name first', () => {
  expect(eraser.texts('Ada (King) Lovelace <ADA@old.example> asked Adam.', true)).toBe(
    `${p.name} <${p.email}> asked Adam.`,
  );
  expect(eraser.texts({ title: ['Ada says hello', 1, null] }, true)).toEqual({
    title: [`${p.name} says hello`, 1, null],
  });
});

it('leaves a name alone where the text is about somebody else, who may be called the same', () => {
  expect(eraser.texts('Ada wrote to ada@new.example', false)).toBe(`Ada wrote to ${p.email}`);
  expect(eraser.members({ user_display_name: 'Ada', email: 'ADA@NEW.EXAMPLE' }, false)).toEqual({
    user_display_name: 'Ada',
    email: p.email,
  });
});

it('touches only members that hold names and addresses where people may have written the rest', () => {
  const data = {
    id,
    name: 'Ada',
    user_display_name: 'Ada',
    summary: 'Ada is Responsible',
    changes: {
      display_name: { old: 'Ada', new: 'Ada (King) Lovelace' },
      description: { old: null, new: 'Ask ada@old.example' },
      email: { old: 'ada@old.example', new: 'else@new.example' },
    },
  };
  expect(eraser.members(data, true)).toEqual({
    id,
    name: 'Ada',
    user_display_name: p.name,
    summary: `${p.name} is Responsible`,
    changes: {
      display_name: { old: p.name, new: p.name },
      description: { old: null, new: 'Ask ada@old.example' },
      email: { old: p.email, new: 'else@new.example' },
    },
  });
});

it('replaces mentions by id, also where an excerpt ends within one', () => {
  const said = (text: string) => eraser.mentions(text);
  expect(said(`Hi @[Whoever](user:${id}) and @[Ada](user:${other})!`)).toBe(
    `Hi @[${p.name}](user:${id}) and @[Ada](user:${other})!`,
  );
  expect(said(`Hi @[Ada](user:${id.slice(0, 8)}`)).toBe(`Hi @[${p.name}](user:${id.slice(0, 8)}`);
  expect(said('Hi @[Ada]')).toBe(`Hi @[${p.name}]`);
  expect(said('Hi @[Ada (Ki')).toBe(`Hi @[${p.name}`);
  expect(said(`Hi @[Ada](user:${'1'.repeat(8)}`)).toBe(`Hi @[Ada](user:${'1'.repeat(8)}`);
  expect(said('Ada is here')).toBe('Ada is here');
});
