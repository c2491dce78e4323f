import vocabulary from './vocabulary.json' with { type: 'json' };

const AT_END = new RegExp(`(?<=[\\p{L}\\p{N}])(?:[\\s,(]+(?:${vocabulary.legalForms.join('|')})\\)?)+$`, 'u');
/** Maximum characters at the end of a name that are searched for a legal form. */
const LONGEST_END = 80;
/** East Asian forms are on either side, without a blank. */
const UNSPACED =
  /^(?:株式会社|有限会社|合同会社|주식회사|\(株\)|㈜)\s*|\s*(?:株式会社|有限会社|合同会社|股份有限公司|有限责任公司|有限公司|주식회사|\(株\)|㈜)$/gu;
/** `S. p. A.`, `L.L.C.` and `Inc.` without dots. */
const POINTS = /(?<![\p{L}\p{N}])((?:\p{L}\.\s?){2,})|(?<=\p{L})\.(?=$|[\s,)])/gu;

/** Removes the legal forms at the end of a folded name, unless nothing else remains. */
export function withoutLegalForm(folded: string): string {
  const plain = folded.replace(POINTS, (_, initials?: string) =>
    initials ? `${initials.replace(/[.\s]/g, '')} ` : '',
  );
  const bare = plain.trim().replace(UNSPACED, '');
  const end = bare.slice(-LONGEST_END);
  const short = (bare.slice(0, bare.length - end.length) + end.replace(AT_END, '')).trim();
  return /[\p{L}\p{N}]{2}/u.test(short) ? short : plain;
}
