/** Where a system runs, in several languages (folded), under the English word. */
const ENVIRONMENTS = new Map(
  Object.entries({
    production:
      'prod prd production produktion produktiv productive produccion produzione productie producao produkcja live',
    'non-production': 'nonprod non-prod nonproduction non-production',
    test: 'test tst testing testsystem testumgebung teststage pruebas collaudo testomgeving',
    development: 'dev development entwicklung developpement desarrollo sviluppo ontwikkeling desenvolvimento',
    acceptance: 'uat acceptance abnahme acc acpt recette acceptatie homologacao',
    'quality assurance': 'qa qas quality-assurance q-system',
    integration: 'sit integration',
    staging: 'staging stage stg preprod pre-prod preproduction pre-production ppd preproduccion',
    training: 'trn schulungssystem training',
    sandbox: 'sandbox sbx playground bac-a-sable',
    'disaster recovery': 'dr failover',
    demonstration: 'demo poc',
  }).flatMap(([environment, words]) => words.split(' ').map((word) => [word, environment] as const)),
);
/** Words that are environments only at the end: `Development` may also be what a thing is for. */
const PLAIN_WORDS = new Set(
  [
    'production produktion produccion produzione productie producao produkcja live',
    'development entwicklung developpement desarrollo sviluppo ontwikkeling desenvolvimento',
    'integration acceptance acceptatie homologacao testing pruebas collaudo stage dr acc training demo',
  ].flatMap((words) => words.split(' ')),
);

/** The environment that a folded word stands for. */
export const environmentNamed = (word: string): string | undefined => ENVIRONMENTS.get(word);

/** Whether a word that stands for an environment may also be what a thing is for. */
export const isPlainWord = (word: string): boolean => PLAIN_WORDS.has(word);
