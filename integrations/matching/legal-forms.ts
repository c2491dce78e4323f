/** Legal forms as they stand at the end of folded names of companies, without their points. */
const FORMS = [
  'gmbh and co kgaa|gmbh and co kg|ag and co kg|gmbh|ggmbh|mbh|kgaa|kg|ohg|gbr|ug|eg|ev|ag|se|gesmbh|aktiengesellschaft',
  'inc|incorporated|llc|llp|lp|corp|corporation|co|company|ltd|limited|plc|pty|pte|pvt|sdn bhd|bhd',
  'sa|sas|sarl|srl|spa|sl|slu|sau|ltda|lda|eirl|sca|snc|scs|sc|de cv',
  'bv|nv|vof|cv|bvba|sprl|ab|oy|oyj|asa|aps|a/s|hf|ehf',
  'sro|as|a s|sp z oo|spolka akcyjna|doo|dd|kft|zrt|nyrt|rt|eood|ood|ead|ad|uab|ou|sia|tov|ooo|ооо|оао|зао|пао|ао|тов',
  'kk|kabushiki kaisha|yk|gk|anonim sirketi|as ti|ltd sti|holding|holdings|group|gruppe|groupe',
].join('|');
const AT_END = new RegExp(`(?<=[\\p{L}\\p{N}])(?:[\\s,(]+(?:${FORMS})\\)?)+$`, 'u');
/** Letters at the end of a name in which its legal form stands. */
const LONGEST_END = 80;
/** East Asian forms stand on either side, without a blank. */
const UNSPACED =
  /^(?:株式会社|有限会社|合同会社|주식회사|\(株\)|㈜)\s*|\s*(?:株式会社|有限会社|合同会社|股份有限公司|有限责任公司|有限公司|주식회사|\(株\)|㈜)$/gu;
/** `S. p. A.`, `L.L.C.` and `Inc.` without their points. */
const POINTS = /(?<![\p{L}\p{N}])((?:\p{L}\.\s?){2,})|(?<=\p{L})\.(?=$|[\s,)])/gu;

/** A folded name without the legal forms at its end, unless nothing else is left. */
export function withoutLegalForm(folded: string): string {
  const plain = folded.replace(POINTS, (_, initials?: string) =>
    initials ? `${initials.replace(/[.\s]/g, '')} ` : '',
  );
  const bare = plain.trim().replace(UNSPACED, '');
  const end = bare.slice(-LONGEST_END);
  const short = (bare.slice(0, bare.length - end.length) + end.replace(AT_END, '')).trim();
  return /[\p{L}\p{N}]{2}/u.test(short) ? short : plain;
}
