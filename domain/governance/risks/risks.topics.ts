/** The topic of the reports that count risks. */
export const RISKS_TOPIC = 'risks';

/** What the to-do of an open occurrence of a mitigation task is about; its subject is the occurrence. */
export const OCCURRENCE_TOPIC = 'risk_mitigation';
