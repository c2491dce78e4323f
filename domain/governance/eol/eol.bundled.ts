import { bundledText } from './eol.bundled.data.ts';
import type { CycleFacts, ProductFacts } from './eol.types.ts';

const known = (text: string): string | null => (text === '-' || text === 'open' ? null : text);

function cycleOf(line: string): CycleFacts {
  const [facts, codename = null] = line.split(' = ');
  const [cycle, released, supported, ends, lts] = facts!.split(' ');
  const eol_from = known(ends!);
  return {
    cycle: cycle!,
    codename,
    release_date: known(released!),
    support_until: known(supported!),
    is_supported: null,
    eol_from,
    is_eol: eol_from === null ? false : null,
    lts_from: null,
    is_lts: lts === 'lts',
    discontinued_from: null,
    is_discontinued: null,
    latest: null,
    latest_release_date: null,
    link: null,
  };
}

/** The facts that come with the program. */
export function bundledFacts(): ProductFacts[] {
  return bundledText
    .trim()
    .split('\n\n')
    .map((block) => {
      const [head, ...cycles] = block.split('\n');
      const [name, label, category, aliases] = head!.split('|').map((part) => part.trim());
      return {
        name: name!,
        label: label!,
        category: category!,
        aliases: aliases === '' ? [] : aliases!.split(', '),
        link: null,
        cycles: cycles.map(cycleOf),
      };
    });
}
