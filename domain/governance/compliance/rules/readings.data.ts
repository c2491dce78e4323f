import { USES_AI } from './rules.shared.ts';
import type { ReadingRule } from './rules.types.ts';

/** Requirements about which only a card's own words tell, by regulation. */
export const readingRules: Record<string, ReadingRule[]> = {
  eu_ai_act: [
    {
      key: 'use-read',
      article: 'Art. 3(1)',
      category: 'inventory',
      requirement: 'It is known of each system whether it is an AI system.',
      applies: 'type in (Application, ITComponent) and attributes.hasAiFeatures is empty',
      question:
        'Does the card itself tell that the system infers from its input how to generate predictions, content, recommendations or decisions (Regulation (EU) 2024/1689, Art. 3(1)), or is it a product that is commonly known to do so? Fixed rules, statistics, search and plain automation are no AI.',
      severity: 'medium',
      gap: 'What the card says points to AI, and the card does not say whether it is used.',
      remediation: 'Confirm or deny that the system uses AI.',
      detectsAi: true,
    },
    {
      key: 'high-risk-read',
      article: 'Annex III',
      category: 'risk',
      requirement: 'AI systems in areas of high risk are known.',
      applies: `type = Application and ${USES_AI} and description is not empty`,
      question:
        'Does the description tell of a use in an area of Annex III of Regulation (EU) 2024/1689: biometrics, critical infrastructure, education, recruitment or management of workers, access to essential services such as credit or benefits, pricing of life or health insurance, emergency services, law enforcement, migration, or justice?',
      severity: 'high',
      gap: 'The described use lies in an area of high risk.',
      remediation:
        'Assess whether the system is of high risk. If it is, see to risk management, data governance, logs, human oversight and registration.',
      needsDescription: true,
    },
  ],
  gdpr: [
    {
      key: 'personal-data-read',
      article: 'Art. 30(1)(c)',
      category: 'records',
      requirement: 'The categories of personal data that are processed are recorded.',
      applies:
        'type = Application and description is not empty and not relation.relAppToDataObj.target.attributes.isPersonalData = true',
      question:
        'Does the description tell that the application works with data about identifiable persons, such as customers, patients, employees or applicants? That people use it is not enough.',
      severity: 'medium',
      gap: 'The description tells of personal data, and no data object with personal data is related.',
      remediation:
        'Relate the data objects with personal data, or say in the description that there are none.',
      needsDescription: true,
    },
    {
      key: 'special-data-read',
      article: 'Art. 9(1)',
      category: 'records',
      requirement: 'Special categories of personal data are processed only where Art. 9(2) allows it.',
      applies: 'type = Application and description is not empty',
      question:
        'Does the description tell that the application works with data on health, sex life, religion, political opinions, trade union membership, race or ethnic origin, or with genetic or biometric data of persons?',
      severity: 'high',
      gap: 'The description tells of special categories of personal data.',
      remediation:
        'Record on which point of Art. 9(2) the processing rests, and assess its impact (Art. 35).',
      needsDescription: true,
    },
  ],
  dora: [
    {
      key: 'third-party-read',
      article: 'Art. 28(3)',
      category: 'third_party',
      requirement: 'Contractual arrangements with ICT third-party service providers are registered.',
      applies: 'type = Application and description is not empty and relation.relProviderToApp is empty',
      question:
        'Does the description tell that somebody outside the organisation runs, hosts or maintains the application for it?',
      severity: 'medium',
      gap: 'The description tells of an ICT service of a third party, and no provider is related.',
      remediation: 'Relate the provider, and register the contract.',
      needsDescription: true,
    },
  ],
};
