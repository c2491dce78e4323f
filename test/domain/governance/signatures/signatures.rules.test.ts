import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { differencesOf } from '../../../../domain/governance/signatures/signatures.commands.ts';
import {
  actionsOf,
  canonicalJson,
  contentHash,
  integrityOf,
  newSignatories,
  pendingIds,
  requireAction,
  type SigningAction,
  signature,
  signingActions,
  withSignatory,
} from '../../../../domain/governance/signatures/signatures.rules.ts';
import { type Signatory, signedStatuses } from '../../../../domain/governance/signatures/signatures.types.ts';
import { forAll } from '../../../support/property.ts';

const [anna, ben] = ['0a', '0b'].map((end) => `00000000-0000-4000-8000-0000000000${end}`) as [string, string];
const at = '2026-11-22T10:00:00.000Z';

it('a document takes these actions in these states, and no others', () => {
  const table = Object.fromEntries(signedStatuses.map((status) => [status, actionsOf(status)]));
  expect(table).toEqual({
    draft: ['edit', 'request'],
    in_review: ['sign', 'recall', 'reject', 'replace'],
    approved: ['edit', 'request'],
    signed: ['revise'],
  });
  for (const status of signedStatuses) {
    for (const action of Object.keys(signingActions) as SigningAction[]) {
      const allowed = table[status]!;
      if (allowed.includes(action)) expect(() => requireAction(action, status)).not.toThrow();
      else {
        // the contract answers an edit of what is signed with 403, and everything else that a state refuses with 409
        const code = action === 'edit' && status === 'signed' ? 'document_signed' : 'wrong_state';
        expect(() => requireAction(action, status)).toThrow(
          expect.objectContaining({ code, extra: { state: status, allowed } }),
        );
      }
    }
  }
});

describe('signatures', () => {
  const asked = {
    status: 'in_review' as const,
    signatories: newSignatories([anna, ben.toUpperCase(), anna]),
  };

  it('are asked of each once', () => {
    expect(asked.signatories.map(({ user_id, status }) => [user_id, status])).toEqual([
      [anna, 'pending'],
      [ben, 'pending'],
    ]);
    expect(() => newSignatories([])).toThrow(expect.objectContaining({ code: 'validation_failed' }));
  });

  it('are complete with the last one, whoever gives it', () =>
    forAll(100, [fc.shuffledSubarray([anna, ben], { minLength: 2 })], ([first, last]) => {
      const once = signature(asked, { userId: first!, at, hash: 'h' });
      expect(once).toMatchObject({ status: 'in_review', signed_at: null, content_hash: null });
      expect(() => signature(once, { userId: first!, at, hash: 'h' })).toThrow(
        expect.objectContaining({ code: 'wrong_state' }),
      );
      const twice = signature(once, { userId: last!, at, hash: 'h' });
      expect(twice).toMatchObject({ status: 'signed', signed_at: at, content_hash: 'h' });
      expect(twice.signatories.every(({ content_hash }) => content_hash === 'h')).toBe(true);
    }));

  it('are refused of others', () => {
    for (const userId of ['00000000-0000-4000-8000-00000000000c', null])
      expect(() => signature(asked, { userId, at, hash: 'h' })).toThrow(
        expect.objectContaining({ code: 'not_signatory', status: 403 }),
      );
  });
});

it('somebody else signs in the place of one who has not, and of nobody else', () => {
  const cleo = '00000000-0000-4000-8000-0000000000cc';
  const asked = newSignatories([anna, ben]);
  const once = signature({ status: 'in_review', signatories: asked }, { userId: anna, at, hash: 'h' });
  expect(pendingIds(once.signatories)).toEqual([ben]);
  const replaced = withSignatory(once.signatories, ben, cleo);
  expect(replaced).toEqual([once.signatories[0], newSignatories([cleo])[0]]);
  expect(pendingIds(replaced)).toEqual([cleo]);
  const code = (left: string, by: string) => {
    try {
      return withSignatory(once.signatories, left, by).length;
    } catch (error) {
      const { code: refused, errors } = error as { code: string; errors?: { field: string; code: string }[] };
      return errors ? `${errors[0]!.field} ${errors[0]!.code}` : refused;
    }
  };
  expect(code(cleo, ben)).toBe('user_id unknown_value');
  expect(code(anna, cleo)).toBe('wrong_state');
  expect(code(ben, ben)).toBe('new_user_id duplicate');
  expect(code(ben, anna)).toBe('new_user_id duplicate');
});

describe('the hash of a content', () => {
  it('is SHA-256 of its canonical form', () => {
    // RFC 8785, 3.2.3: members by UTF-16 code units
    const value = {
      '\u20ac': 'Euro',
      '\r': 'CR',
      '\ufb33': 'Dalet',
      '1': 'One',
      '😀': 'Smile',
      '\u0080': 'C',
    };
    expect(Object.keys(JSON.parse(canonicalJson(value)))).toHaveLength(6);
    expect(canonicalJson(value)).toBe(
      '{"\\r":"CR","1":"One","\u0080":"C","€":"Euro","😀":"Smile","\ufb33":"Dalet"}',
    );
    expect(contentHash({ b: { c: '"ä' }, a: [1, true, null], left: undefined })).toBe(
      createHash('sha256').update('{"a":[1,true,null],"b":{"c":"\\"ä"}}').digest('hex'),
    );
  });

  it('does not depend on the order of members, and on all else', () => {
    const values = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.array(fc.string())));
    forAll(50, [values, fc.string()], (content, other) => {
      expect(contentHash(Object.fromEntries(Object.entries(content).reverse()))).toBe(contentHash(content));
      expect(contentHash({ ...content, other: [other, 'x'] })).not.toBe(contentHash(content));
    });
  });

  it('tells what was changed since', () => {
    const content = { title: 'One' };
    const hash = contentHash(content);
    const by = (content_hash: string | null): Signatory => ({
      user_id: anna,
      status: 'pending',
      signed_at: null,
      content_hash,
    });
    expect(integrityOf(content, { content_hash: null, signatories: [by(null)] })).toBeNull();
    expect(integrityOf(content, { content_hash: hash, signatories: [by(hash)] })).toBe('intact');
    expect(integrityOf({ title: 'Two' }, { content_hash: hash, signatories: [by(hash)] })).toBe('changed');
    expect(integrityOf(content, { content_hash: hash, signatories: [by('0')] })).toBe('changed');
    // in review, and signed by one
    expect(integrityOf({ title: 'Two' }, { content_hash: null, signatories: [by(hash)] })).toBe('changed');
  });
});

it('two contents differ member by member', () => {
  const old = {
    title: 'A',
    list: ['x'],
    sections: { '1.1': { content: 'a', hidden: false } },
    same: { a: 1 },
  };
  const now = {
    title: 'A',
    list: ['x', 'y'],
    sections: { '1.1': { content: 'b', hidden: false }, '1.2': 'n' },
    same: { a: 1 },
  };
  expect(differencesOf(old, now)).toEqual([
    { field: 'list', old: ['x'], new: ['x', 'y'] },
    { field: 'sections.1.1.content', old: 'a', new: 'b' },
    { field: 'sections.1.2', old: null, new: 'n' },
  ]);
  expect(differencesOf(now, now)).toEqual([]);
});
