package bandit

import "math"

// Forget lets one step pass after which the mean may be another: with probability hazard in [0,1] it has
// been drawn anew from the prior. The posterior is then a mixture. Forget takes the beta belief
// proportional to posterior^(1−hazard) · prior^hazard in its place, which discounts the counts beyond those of
// the prior (Kulhavý & Zarrop 1993; discounted Thompson sampling, Raj & Kalyani 2017). So a belief
// becomes uncertain again while its arm is not pulled.
func (d *Beta) Forget(hazard float64, prior Beta) {
	d.A += hazard * (prior.A - d.A)
	d.B += hazard * (prior.B - d.B)
}

// Forget is that of Beta: it discounts the precision beyond that of the prior.
func (d *Gaussian) Forget(hazard float64, prior Gaussian) {
	own, first := 1/(d.Sigma*d.Sigma), 1/(prior.Sigma*prior.Sigma)
	precision := own + hazard*(first-own)
	d.Mu += hazard * first / precision * (prior.Mu - d.Mu)
	d.Sigma = 1 / math.Sqrt(precision)
}
