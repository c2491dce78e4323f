/** Business processes that most enterprises have, on two levels; written as the capabilities are. */
export const processes = `
100 Plan and Steer | Planen und steuern
  10 Develop the strategy | Strategie entwickeln
  20 Plan the year | Jahr planen
  30 Review performance | Leistung überprüfen
  40 Manage risks | Risiken steuern
  50 Prepare board decisions | Vorstandsbeschlüsse vorbereiten
150 Idea to Product | Von der Idee zum Produkt
  10 Collect and assess ideas | Ideen sammeln und bewerten
  20 Specify the product | Produkt spezifizieren
  30 Develop and test the product | Produkt entwickeln und erproben
  40 Launch the product | Produkt einführen
  50 Withdraw the product | Produkt zurückziehen
200 Market to Lead | Vom Markt zum Interessenten
  10 Plan campaigns | Kampagnen planen
  20 Run campaigns | Kampagnen durchführen
  30 Qualify leads | Interessenten qualifizieren
250 Lead to Order | Vom Interessenten zum Auftrag
  10 Prepare a quotation | Angebot erstellen
  20 Check credit | Bonität prüfen
  30 Negotiate the contract | Vertrag verhandeln
  40 Accept the order | Auftrag annehmen
300 Order to Cash | Vom Auftrag zur Zahlung
  10 Confirm the order | Auftrag bestätigen
  20 Deliver goods | Ware liefern
  30 Issue the invoice | Rechnung stellen
  40 Receive the payment | Zahlung vereinnahmen
  50 Remind and collect | Mahnen und eintreiben
350 Issue to Resolution | Von der Meldung zur Lösung
  10 Record the issue | Anliegen erfassen
  20 Solve the issue | Anliegen lösen
  30 Handle a complaint | Beschwerde bearbeiten
  40 Take back goods | Ware zurücknehmen
400 Procure to Pay | Von der Beschaffung zur Zahlung
  10 Select suppliers | Lieferanten auswählen
  20 Order goods and services | Waren und Leistungen bestellen
  30 Receive goods | Waren annehmen
  40 Verify the invoice | Rechnung prüfen
  50 Pay suppliers | Lieferanten bezahlen
450 Plan to Produce | Von der Planung zur Fertigung
  10 Forecast demand | Bedarf vorhersagen
  20 Plan production | Produktion planen
  30 Produce | Fertigen
  40 Inspect quality | Qualität prüfen
  50 Store and ship | Lagern und versenden
500 Acquire to Retire | Von der Anschaffung zur Stilllegung
  10 Acquire assets | Anlagen anschaffen
  20 Maintain assets | Anlagen instand halten
  30 Retire assets | Anlagen stilllegen
550 Record to Report | Von der Buchung zum Bericht
  10 Record transactions | Geschäftsvorfälle buchen
  20 Close the period | Periode abschließen
  30 Report results | Ergebnisse berichten
  40 Declare taxes | Steuern erklären
600 Hire to Retire | Vom Eintritt zum Austritt
  10 Recruit people | Personal gewinnen
  20 Onboard people | Personal einarbeiten
  30 Pay people | Personal vergüten
  40 Develop people | Personal entwickeln
  50 Part with people | Personal verabschieden
650 Demand to Service | Von der Anforderung zum IT-Dienst
  10 Assess IT demands | IT-Bedarfe bewerten
  20 Build and release solutions | Lösungen bauen und freigeben
  30 Operate services | Dienste betreiben
  40 Handle incidents | Störungen bearbeiten
  50 Protect information | Informationen schützen
`;
