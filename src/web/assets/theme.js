// Dark or light, set before anything is drawn: the system's preference, unless the person has chosen.
(() => {
  const root = document.documentElement;
  const stored = localStorage.getItem('ralph-theme');
  if (stored) root.dataset.theme = stored;
  const isDark = () => (root.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  window.addEventListener('ralph-theme', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    localStorage.setItem('ralph-theme', root.dataset.theme);
  });
})();
