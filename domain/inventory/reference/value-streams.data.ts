/** How value comes about for those whom an enterprise serves; written as the capabilities are. */
export const valueStreams = `
100 Acquire a Customer | Kunden gewinnen
150 Onboard a Customer | Kunden aufnehmen
200 Fulfil an Order | Auftrag erfüllen
250 Support a Customer | Kunden betreuen
300 Keep a Customer | Kunden binden
350 Bring a Product to Market | Produkt auf den Markt bringen
400 Source Goods and Services | Waren und Leistungen beschaffen
450 Produce Goods | Waren herstellen
500 Attract and Develop People | Menschen gewinnen und entwickeln
550 Provide Information Services | Informationsdienste bereitstellen
600 Finance the Enterprise | Unternehmen finanzieren
650 Keep the Licence to Operate | Betriebserlaubnis erhalten
`;
