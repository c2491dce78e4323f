/** What a principle of the catalogue says, in one language. */
export interface PrincipleTexts {
  title: string;
  description: string;
  rationale: string;
  implications: string;
}

/** A principle that comes with the service. */
export interface CataloguePrinciple {
  id: string;
  texts: Record<'en' | 'de', PrincipleTexts>;
}
