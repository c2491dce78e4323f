import fc from 'fast-check';
import { expect, it } from 'vitest';
import { networkOf } from '../../../../domain/access/access.throttle.ts';
import { WebPortal } from '../../../../domain/exchange/portals/portals.model.ts';

it('a slug is lower-case words and digits joined by single hyphens', () => {
  const slug = new RegExp((WebPortal.columns.slug as { pattern?: string }).pattern!);
  for (const good of ['a', '7', 'our-products', 'a1-b2-3']) expect(slug.test(good), good).toBe(true);
  for (const bad of ['', '-', 'a-', '-a', 'a--b', 'A', 'a_b', 'a b', 'ä', 'a\n', 'a/b', '%61']) {
    expect(slug.test(bad), bad).toBe(false);
  }
  const word = fc.stringMatching(/^[a-z0-9]{1,5}$/);
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => slug.test(words.join('-'))),
    { numRuns: 50 },
  );
});

it('requests are counted by IPv4 address and by network of IPv6', () => {
  expect(networkOf('203.0.113.7')).toBe('203.0.113.7');
  expect(networkOf('::ffff:203.0.113.7')).toBe('203.0.113.7');
  expect(networkOf('::ffff:cb00:7107')).toBe('203.0.113.7');
  expect(networkOf('2001:DB8:0:1:a:b:c:d')).toBe('2001:db8:0:1::/64');
  expect(networkOf('2001:db8:0:1::2')).toBe('2001:db8:0:1::/64');
  expect(networkOf('2001:0db8::1')).toBe('2001:db8:0:0::/64');
  expect(networkOf('fe80::1%eth0')).toBe('fe80:0:0:0::/64');
  expect(networkOf('::1')).toBe('0:0:0:0::/64');
});
