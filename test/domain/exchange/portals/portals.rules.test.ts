import fc from 'fast-check';
import { WebPortal } from '../../../../domain/exchange/portals/portals.model.ts';
import { forAll } from '../../../support/property.ts';

it('a slug is lower-case words and digits joined by single hyphens', () => {
  const slug = new RegExp((WebPortal.columns.slug as { pattern?: string }).pattern!);
  for (const good of ['a', '7', 'our-products', 'a1-b2-3']) expect(slug.test(good), good).toBe(true);
  for (const bad of ['', '-', 'a-', '-a', 'a--b', 'A', 'a_b', 'a b', 'ä', 'a\n', 'a/b', '%61'])
    expect(slug.test(bad), bad).toBe(false);
  const word = fc.stringMatching(/^[a-z0-9]{1,5}$/);
  forAll(50, [fc.array(word, { minLength: 1, maxLength: 5 })], (words) => slug.test(words.join('-')));
});
